#!/usr/bin/env python3
"""Races the server against TensorBoard (with its Rust loader): start, latencies, a small request beside a
large one, idle CPU, flush to visible. Prints the Markdown table that docs/bench.md holds.

    bench/server.py --python TB_VENV/bin/python [--sonde build/release/sonde] [--seconds 2] [--rounds 3] [--only start,latency,beside,idle,live]

TB_VENV has `tensorboard` and numpy, and no TensorFlow. The log shapes and the load generator come from
../shared/bench (or $SONDE_SHARED/bench). Contestants alternate; a figure is the median of the rounds.
"""

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SONDE_SHARED", ROOT.parent / "shared")) / "bench"
sys.path.insert(0, str(SHARED))
import load  # noqa: E402
import rivals  # noqa: E402


class Contestant:
    def __init__(self, name, command, logdir, manifest=None):
        self.name, self.port = name, rivals.free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.began = time.perf_counter()
        self.process = rivals.spawn(command, str(logdir), self.port)
        try:
            self.html_s = rivals.wait_html(self.process, self.base, self.began, 120)
            if manifest:
                rivals.wait_data(self.process, self.base, self.began, manifest, 0.05, 600, load.Conn(*load.endpoint(self.base)))
        except rivals.Timeout:
            self.stop()
            raise

    def stop(self):
        rivals.stop(self.process)


def make_logs(python, folder, shape, *options):
    out = Path(folder) / "_".join([shape, *[o.strip("-") for o in options]])
    subprocess.run([python, str(SHARED / "make_logs.py"), shape, str(out), *options], check=True, stdout=subprocess.DEVNULL)
    return out, json.loads((out / "manifest.json").read_text())


def row(what, rival, ours, unit, wanted):
    print(f"| {what} | {rival:.3g} {unit} | {ours:.3g} {unit} | {rival / ours:.0f}× | {wanted} |", flush=True)


def race_start(a, commands, logdir):
    times = {name: [] for name in commands}
    for _ in range(a.rounds):
        for name, command in commands.items():
            contestant = Contestant(name, command, logdir)
            times[name].append(contestant.html_s * 1e3)
            contestant.stop()
    rival, ours = (statistics.median(times[n]) for n in ("tensorboard", "sonde"))
    row("start to first HTML", rival, ours, "ms", "≥ 20×")


def race_latency(a, commands, logdir, manifest, label, names, wanted):
    contestants = [Contestant(name, command, logdir, manifest) for name, command in commands.items()]
    try:
        specs = {c.name: {s["name"]: s for s in load.standard_requests(c.base, manifest)} for c in contestants}
        for kind, goal in zip(names, wanted):
            full = next((n for n in specs["sonde"] if n.startswith(kind)), None)
            if not full:
                continue
            p50 = {c.name: [] for c in contestants}
            for _ in range(a.rounds):
                for c in contestants:
                    p50[c.name].append(load.measure(c.base, specs[c.name][full], 1, a.seconds)["p50"])
            row(f"{full} ({label}), p50", statistics.median(p50["tensorboard"]), statistics.median(p50["sonde"]), "ms", goal)
    finally:
        for c in contestants:
            c.stop()


def measure_beside(a, command, logdir, manifest):
    """p99 of small requests while one client repeats the largest one."""
    contestant = Contestant("sonde", command, logdir, manifest)
    try:
        specs = load.standard_requests(contestant.base, manifest)
        large = next(s for s in reversed(specs) if s["name"].startswith("timeSeries"))
        process = multiprocessing.get_context("fork").Process(target=load.measure, args=(contestant.base, large, 1, a.seconds * 2 + 3))
        process.start()
        time.sleep(1)
        for kind in ("runs", "one_series"):
            small = next(s for s in specs if s["name"] == kind)
            got = load.measure(contestant.base, small, 1, a.seconds)
            print(f"| {kind} beside {large['name']} | | p50 {got['p50']:.2f} ms, p99 {got['p99']:.2f} ms | | p99 ≤ 5 ms |", flush=True)
        process.join()
    finally:
        contestant.stop()


def measure_idle(a, command, logdir, manifest):
    contestant = Contestant("sonde", command, logdir, manifest)
    try:
        before = rivals.usage([contestant.process.pid])[0]
        time.sleep(a.idle)
        percent = 100 * (rivals.usage([contestant.process.pid])[0] - before) / a.idle
        print(f"| idle CPU, {len(manifest['runs'])} runs, {a.idle:.0f} s | | {percent:.3f} % | | ≤ 0.1 % |", flush=True)
    finally:
        contestant.stop()


def measure_live(a, command):
    a.live, a.rate, a.writer_python, a.poll = a.live_seconds, 10.0, a.python, 0.005
    got = rivals.live({"name": "sonde", "cmd": command}, a)
    print(f"| flush to visible, {got['n']} steps | | p50 {got['p50']:.1f} ms, p99 {got['p99']:.1f} ms | | p50 ≤ 20, p99 ≤ 100 ms |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--sonde", default=str(ROOT / "build/release/sonde"))
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--idle", type=float, default=120)
    parser.add_argument("--live-seconds", type=float, default=15)
    parser.add_argument("--only", default="start,latency,beside,idle,live")
    a = parser.parse_args()
    only = a.only.split(",")
    ours = f"{a.sonde} --logdir {{logdir}} --port {{port}}"
    commands = {"tensorboard": f"{a.python} -m tensorboard.main --host 127.0.0.1 --port {{port}} --logdir {{logdir}}", "sonde": ours}
    print("| what | TensorBoard | Sonde | ratio | wanted |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        if "start" in only:
            race_start(a, commands, make_logs(a.python, folder, "small")[0])
        if "latency" in only:
            mixed = make_logs(a.python, folder, "mixed", "--scale", "0.1")
            race_latency(a, commands, *mixed, "mixed", ["scalars_tags", "one_series", "one_histogram", "image_list", "one_image"],
                         ["≥ 100×"] * 4 + ["≥ 10×"])
        many = make_logs(a.python, folder, "many_runs", "--scale", "0.1") if {"latency", "idle"} & set(only) else None
        if "latency" in only:
            race_latency(a, commands, *many, "many_runs", ["runs", "scalars_tags", "timeSeries 1 tag"], ["≥ 100×", "≥ 100×", "≥ 50×"])
        if {"latency", "beside"} & set(only):
            square = make_logs(a.python, folder, "many_runs", "--runs", "100", "--tags", "100", "--scale", "0.1")
            if "latency" in only:
                race_latency(a, commands, *square, "100 runs", ["timeSeries 100"], ["≥ 80×"])
            if "beside" in only:
                measure_beside(a, ours, *square)
        if "idle" in only:
            measure_idle(a, ours, *many)
        if "live" in only:
            measure_live(a, ours)
    return 0


if __name__ == "__main__":
    sys.exit(main())
