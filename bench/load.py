#!/usr/bin/env python3
"""How fast a log directory loads: Sonde against TensorBoard's native data server, alternating, medians.

    bench/load.py [--shapes scalars_1x,mixed] [--rounds 5] [--scale 1] [--logs DIR] [--python TB_VENV/bin/python] [--sonde build/release/sonde]

Makes the log shapes (once, into --logs), races `sonde inspect` with RustBoard's defaults on each and prints one table:
CPU seconds, wall seconds, peak memory, ratios of medians. Needs the shared bench tools (../shared or $SONDE_SHARED), an
interpreter with tensorboard and numpy, and a quiet machine for the wall times; CPU seconds stand in any case.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SONDE_SHARED", ROOT.parent / "shared"))
SHAPES = ["scalars_1x", "ten_million", "many_runs", "many_tags", "mixed", "images_heavy"]


def race(sonde: Path, logdir: Path, python: str, rounds: int) -> dict:
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run(
            [sys.executable, SHARED / "bench" / "rivals.py", "--logdir", logdir, "--python", python, "--rounds", str(rounds),
             "--rival", "rustboard", "--inspect", f"one={sonde} inspect --logdir {{logdir}} --threads 1",
             "--inspect", f"two={sonde} inspect --logdir {{logdir}} --threads 2", "--json", out.name],
            check=True, stdout=subprocess.DEVNULL)
        return json.loads(Path(out.name).read_text())


def inside_gain(sonde: Path, logdir: Path, rounds: int) -> float:
    """How much sooner two threads have read everything than one, as the program itself says: without its start and end."""
    took = {1: [], 2: []}
    for _ in range(rounds):
        for threads, times in took.items():
            out = subprocess.run([sonde, "inspect", "--logdir", logdir, "--threads", str(threads)], check=True, capture_output=True, text=True).stdout
            times.append(float(re.search(r"^read in ([\d.]+) s$", out, re.M)[1]))
    return statistics.median(took[1]) / statistics.median(took[2])


def row(shape: str, result: dict, inside: float) -> str:
    middle = {}
    for name, rounds in result["results"].items():
        good = [r for r in rounds if r["ok"]]
        middle[name] = {k: statistics.median(r[k] for r in good) for k in ("cpu", "all", "peak")}
    rival, one, two = middle["rustboard"], middle["one"], middle["two"]
    ratio = rival["cpu"] / max(one["cpu"], 0.001)
    return (f"| `{shape}` | {rival['cpu']:.2f} / {rival['peak']:.0f} | {one['cpu']:.3f} / {one['peak']:.0f} | {two['cpu']:.3f} / {two['peak']:.0f} "
            f"| {ratio:.1f}x | {rival['all'] / one['all']:.1f}x | {one['all'] / two['all']:.2f}x | {inside:.2f}x |")


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--shapes", default=",".join(SHAPES))
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--scale", default="1")
    arguments.add_argument("--logs", type=Path, default=Path(tempfile.gettempdir()) / "sonde-bench")
    arguments.add_argument("--python", default=sys.executable)
    arguments.add_argument("--sonde", type=Path, default=ROOT / "build" / "release" / "sonde")
    options = arguments.parse_args()
    if not (SHARED / "bench" / "rivals.py").exists():
        print("bench/load.py: the shared bench tools are not there; set SONDE_SHARED", file=sys.stderr)
        return 2
    print("| shape | RustBoard CPU s / MB | Sonde, 1 thread | Sonde, 2 threads | CPU ratio | wall ratio | second core, wall | second core, the load inside |")
    print("|---|---|---|---|---|---|---|---|")
    for shape in options.shapes.split(","):
        logdir = options.logs / shape
        if not (logdir / "manifest.json").exists():
            subprocess.run([options.python, SHARED / "bench" / "make_logs.py", shape, logdir, "--scale", options.scale], check=True)
        result = race(options.sonde, logdir, options.python, options.rounds)
        print(row(shape, result, inside_gain(options.sonde, logdir, options.rounds)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
