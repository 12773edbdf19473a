#!/usr/bin/env python3
"""Digests of many ranks: what `sonde worker` makes of their traces, and what the page costs over them.

    bench/ranks.py [--ranks 64,512,4096] [--steps 20] [--program build/release/sonde]

The traces are made up (tests/scale/traces.py), a few dozen slices a step. Prints a row for each size: bytes of traces and
digests, CPU seconds of the worker, then of a server that has just started: milliseconds until the first picture is answered,
its bytes, until the collectives are, until SQL over all steps is, and the memory of the program after each.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/scale"))
import traces  # noqa: E402


def bytes_in(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def memory_mb(process):
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def asked(base, path, body=None):
    begin = time.perf_counter()
    request = urllib.request.Request(base + path, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=300) as answer:
        size = len(answer.read())
    return (time.perf_counter() - begin) * 1000, size


def one_size(program, ranks, steps, folder):
    captures = traces.write(folder / "captures", ranks, steps=steps)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for begin in range(0, ranks, 512):
        subprocess.run([program, "worker", *captures[begin:begin + 512], "--out", folder / "digests"], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    server = subprocess.Popen([program, "--logdir", folder / "digests", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        base = next(f"http://127.0.0.1:{found[1]}" for line in server.stdout if (found := re.search(r"http://[\w.\[\]:]+:(\d+)", line)))
        row = [ranks, bytes_in(folder / "captures") / 1e6, bytes_in(folder / "digests") / 1e6, cpu]
        ms, size = asked(base, "/api/v1/digests/ranks?digest=.")
        row += [ms, size / 1e6, memory_mb(server)]
        ms, _ = asked(base, "/api/v1/digests/collectives?digest=.")
        row += [ms, memory_mb(server)]
        query = {"digest": ".", "sql": "select rank, sum(dur) as dur from steps group by rank order by dur desc limit 10"}
        ms, _ = asked(base, "/api/v1/digests/sql", json.dumps(query).encode())
        return [*row, ms, memory_mb(server)]
    finally:
        server.terminate()
        server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="64,512,4096")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--program", default=os.environ.get("SONDE_BINARY", ROOT / "build/release/sonde"))
    options = parser.parse_args()
    print("| ranks | traces MB | digests MB | worker CPU s | first picture ms | its MB | memory MB | collectives ms | memory MB | SQL ms | memory MB |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for ranks in map(int, options.ranks.split(",")):
        with tempfile.TemporaryDirectory(prefix="sonde_ranks") as folder:
            row = one_size(options.program, ranks, options.steps, Path(folder))
            print("| " + " | ".join(f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row) + " |", flush=True)


if __name__ == "__main__":
    main()
