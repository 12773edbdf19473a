#!/usr/bin/env python3
"""How long the trace viewer waits for a viewport of a very large trace, at every zoom.

    bench/viewport.py [--events 10000000] [--requests 40] [--captures DIR] [--sonde build/release/sonde]

Makes a synthetic capture with about that many events (once; --events 10000000 is a file of about 350 MB and
takes two minutes to make), opens it in a server of its own and asks for views of all tracks: the whole trace,
then ranges ten times shorter each, down to a microsecond, at random places. Prints the median and the slowest
answer in milliseconds (over loopback, the client's reading included) and the largest answer in kB at each zoom.
Wanted: every answer below 20 ms and 256 kB. Needs the shared make_synth_xspace.py ($SONDE_SHARED).
"""

import argparse
import importlib.util
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("profile_bench", HERE / "profile.py")
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--events", type=int, default=10_000_000)
    arguments.add_argument("--requests", type=int, default=40, help="views at each zoom")
    arguments.add_argument("--captures", type=Path, default=Path(tempfile.gettempdir()) / "sonde-bench-captures")
    arguments.add_argument("--sonde", type=Path, default=bench.ROOT / "build" / "release" / "sonde")
    options = arguments.parse_args()
    logdir = options.captures / f"view_{options.events}"
    if not list(logdir.glob("plugins/profile/*/*.xplane.pb")):
        # The maker counts kernels and launches; a third as many iterator, op and copy events come with them.
        subprocess.run([sys.executable, bench.SHARED / "tools" / "make_synth_xspace.py", logdir, "--events", str(options.events * 2 // 3),
                        "--steps", "400", "--gpus", "4"], check=True, stdout=subprocess.DEVNULL)
    server = bench.Server(options.sonde, logdir)
    try:
        session = urllib.request.quote(server.session(), safe="")
        began = time.perf_counter()
        tracks = server.get(f"/api/v1/trace/tracks?session={session}")
        opened = time.perf_counter() - began
        rows = [{"track": t["id"]} for t in tracks["tracks"] if t["slices"]]
        address = f"/api/v1/trace/view?session={session}"
        began = time.perf_counter()
        server.post(address, {"px": 1600, "rows": rows})
        first = time.perf_counter() - began
        print(f"{tracks['slices']} events: open {opened:.2f} s, first view {first * 1e3:.0f} ms, peak {server.figures()['peak']:.0f} MB\n")
        print("| range | median ms | slowest ms | largest kB |")
        print("|---|--:|--:|--:|")
        whole, chance = tracks["t1"] - tracks["t0"], random.Random(1)
        width = whole
        while width >= 1_000_000:
            times, largest = [], 0
            for _ in range(options.requests):
                t0 = tracks["t0"] + int(chance.random() * (whole - width))
                began = time.perf_counter()
                answer = server.post(address, {"t0": t0, "t1": t0 + width, "px": 1600, "rows": rows})
                times.append((time.perf_counter() - began) * 1e3)
                largest = max(largest, len(answer))
            print(f"| {width / 1e9:.6g} ms | {statistics.median(times):.2f} | {max(times):.2f} | {largest / 1e3:.0f} |", flush=True)
            width //= 10
    finally:
        server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
