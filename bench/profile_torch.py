#!/usr/bin/env python3
"""How fast a PyTorch capture becomes its views: Sonde against torch-tb-profiler, alternating, medians.

    bench/profile_torch.py [--events 1000000] [--eras modern,legacy] [--rounds 3] [--python VENV/bin/python] [--work DIR]

Makes synthetic Kineto traces with the shared generator (../shared or $SONDE_SHARED), then lets both programs read each
from scratch and compute every view: the plug-in in one process (parse, trees, all views, memory curve), Sonde as
`sonde profile FILE --tool torch.overview,torch.operator,torch.kernel,torch.memory,torch.module --json`. One table in
Markdown: CPU seconds, wall seconds, peak memory, ratios of medians; peak memory also against the size of the file.
The interpreter given with --python needs `pip install torch-tb-profiler`; without it only Sonde is measured.
1 000 000 events: about 3 minutes; 100 000: 20 seconds.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SONDE_SHARED", ROOT.parent / "shared"))
VIEWS = "torch.overview,torch.operator,torch.kernel,torch.memory,torch.module"
RIVAL = """
import sys
from torch_tb_profiler import io
from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator
profile = RunGenerator("w", None, RunProfileData.parse("w", None, sys.argv[1], io.Cache())).generate_run_profile()
if profile.memory_snapshot:
    profile.get_memory_stats(), profile.get_memory_curve(), profile.get_memory_events()
profile.module_stats and profile.get_module_view()
print(len(profile.operation_table_by_name["data"]))
"""


def measured(command: list[str]) -> dict:
    """CPU seconds, wall seconds and peak MB of one run, in a child of its own so that peaks do not mix."""
    probe = ("import resource, subprocess, sys, time; t = time.monotonic();"
             "r = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL);"
             "u = resource.getrusage(resource.RUSAGE_CHILDREN);"
             "print(r.returncode, u.ru_utime + u.ru_stime, time.monotonic() - t, u.ru_maxrss / 1024)")
    out = subprocess.run([sys.executable, "-c", probe, *command], capture_output=True, text=True, check=True).stdout.split()
    if out[0] != "0":
        raise RuntimeError(f"{command[0]} failed with code {out[0]}")
    return {"cpu": float(out[1]), "wall": float(out[2]), "peak": float(out[3])}


def middle(rounds: list[dict]) -> dict:
    return {key: statistics.median(r[key] for r in rounds) for key in ("cpu", "wall", "peak")}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--events", type=int, default=1_000_000)
    arguments.add_argument("--eras", default="modern,legacy")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--python", default=sys.executable)
    arguments.add_argument("--sonde", default=str(ROOT / "build" / "release" / "sonde"))
    arguments.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "sonde-bench-torch")
    options = arguments.parse_args()
    generator = SHARED / "tools" / "make_synth_trace.py"
    if not generator.exists():
        print("bench/profile_torch.py: the trace generator is not there; set SONDE_SHARED", file=sys.stderr)
        return 2
    has_rival = subprocess.run([options.python, "-c", "import torch_tb_profiler"], capture_output=True).returncode == 0
    if not has_rival:
        print(f"{options.python} has no torch-tb-profiler: Sonde alone is measured", file=sys.stderr)
    options.work.mkdir(parents=True, exist_ok=True)
    print(f"{options.events} events, {options.rounds} rounds, medians; CPU s / wall s / peak MB\n")
    print("| capture | file MB | torch-tb-profiler | Sonde | CPU ratio | wall ratio | memory ratio | Sonde memory / file |")
    print("|---|--:|---|---|--:|--:|--:|--:|")
    for era in options.eras.split(","):
        file = options.work / f"{era}_{options.events}.pt.trace.json"
        if not file.exists():
            subprocess.run([sys.executable, generator, "--events", str(options.events), "--era", era, "--world", "1", "-o", file], check=True,
                           stdout=subprocess.DEVNULL)
        rival, own = [], []
        for _ in range(options.rounds):
            if has_rival:
                rival.append(measured([options.python, "-c", RIVAL, str(file)]))
            own.append(measured([options.sonde, "profile", str(file), "--tool", VIEWS, "--json"]))
        mine, size = middle(own), file.stat().st_size / 1e6
        theirs = middle(rival) if rival else None
        shown = f"{theirs['cpu']:.1f} / {theirs['wall']:.1f} / {theirs['peak']:.0f}" if theirs else "-"
        ratios = [f"{theirs[k] / mine[k]:.1f}x" if theirs else "-" for k in ("cpu", "wall", "peak")]
        print(f"| {era} | {size:.0f} | {shown} | {mine['cpu']:.2f} / {mine['wall']:.2f} / {mine['peak']:.0f} | {' | '.join(ratios)} "
              f"| {mine['peak'] * 1.048576 / size:.1f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
