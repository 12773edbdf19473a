#!/usr/bin/env python3
"""How fast and how large opening a capture is: events a second of every importer, and peak memory against
the size of the uncompressed file. Prints a Markdown table.

    bench/import.py [--sonde build/release/sonde] [--events 1000000] [--rounds 3] [--only kineto,chrome,...]

Kineto, Chrome and XSpace files come from ../shared/tools/make_synth_trace.py and make_synth_xspace.py (or
$SONDE_SHARED/tools), Perfetto from converting the Kineto file, run metadata and its event file are written
here. A contestant is a whole process that opens the file and writes nothing but names; the figure is the
median of the rounds, memory the largest. Wanted: 10 million events in 10 s; peak memory at most 3 times
the uncompressed file for files of 50 MB and more. 1 M events take about a minute with making the files, 10 M about ten.
"""

import argparse
import gzip
import multiprocessing
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(os.environ.get("SONDE_SHARED", ROOT.parent / "shared")) / "tools"


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def step_stats(path, events):
    """One run of `events` nodes on eight threads, each fed by the one before. A node has the fields that TensorFlow 2.21
    writes with FULL_TRACE (210 bytes; those of recorded runs have 200 to 255); no two nodes share a name."""
    nodes = []
    for i in range(events):
        label = f"layer_{i % 997}/op_{i} = MatMul(layer_{(i - 1) % 997}/op_{i - 1}, layer_{i % 997}/kernel)"
        begin = 1_700_000_000_000_000 + 3 * i
        allocation = number(1, 4096) + number(2, 4096) + block(3, b"cpu") + number(4, i + 1) + number(6, 0x7F0000000000 + 4096 * i)
        tensor = number(1, 1) + block(2, block(2, number(1, 32)) + block(2, number(1, 32))) + block(4, allocation)
        memory = block(1, b"cpu") + number(2, 4096) + number(3, 4096) + block(6, number(1, begin) + number(2, 4096))
        nodes.append(block(2, block(1, f"layer_{i % 997}/op_{i}".encode()) + number(2, begin) + number(3, 1) + number(4, 18) + number(5, 20)
                           + block(6, memory) + block(7, block(3, tensor)) + block(8, label.encode()) + number(9, begin - 5) + number(10, i % 8)
                           + number(13, 1000 * begin) + number(14, 900) + number(15, 18_100) + number(16, 20_000) + number(17, 1000 * (begin - 5))))
    device = block(1, b"/job:localhost/replica:0/task:0/device:CPU:0") + b"".join(nodes)
    path.write_bytes(block(1, block(1, device)))


CRC = []


def crc32c(data):
    if not CRC:
        for n in range(256):
            for _ in range(8):
                n = n >> 1 ^ 0x82F63B78 * (n & 1)
            CRC.append(n)
    value = 0xFFFFFFFF
    for byte in data:
        value = value >> 8 ^ CRC[(value ^ byte) & 255]
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def event_file(path, events):
    """Run metadata of a tenth of the events in an event file, ten runs."""
    single = path.with_suffix(".one")
    step_stats(single, events // 10)
    metadata = single.read_bytes()
    single.unlink()
    with open(path, "wb") as out:
        for step in range(10):
            event = number(2, step) + block(8, block(1, f"step{step}".encode()) + block(2, metadata))
            head = struct.pack("<Q", len(event))
            out.write(head + struct.pack("<I", crc32c(head)) + event + struct.pack("<I", crc32c(event)))


def make(folder, kind, events, sonde):
    path = folder / {"kineto": "k.pt.trace.json", "chrome": "c.trace.json", "kineto.gz": "z.pt.trace.json.gz", "perfetto": "p.pftrace",
                     "xspace": "x.xplane.pb", "run metadata": "r.run_metadata.pb", "event file": "events.out.tfevents.1.bench"}[kind]
    if kind in ("kineto", "chrome"):
        subprocess.run([sys.executable, TOOLS / "make_synth_trace.py", "--kind", kind, "--events", str(events), "-o", path],
                       check=True, stdout=subprocess.DEVNULL)
    elif kind in ("kineto.gz", "perfetto"):
        source = folder / "k.pt.trace.json"
        if not source.exists():
            make(folder, "kineto", events, sonde)
        if kind == "perfetto":
            subprocess.run([sonde, "timeline", "convert", source, "--to", "perfetto", "-o", path], check=False, stderr=subprocess.DEVNULL)
        else:
            with open(source, "rb") as plain, gzip.open(path, "wb", compresslevel=4) as packed:
                shutil.copyfileobj(plain, packed, 1 << 20)
    elif kind == "xspace":
        subprocess.run([sys.executable, TOOLS / "make_synth_xspace.py", folder / "x", "--events", str(events)], check=True,
                       stdout=subprocess.DEVNULL)
        next((folder / "x").rglob("*.xplane.pb")).rename(path)
    else:
        # In a process of its own: the peak memory of a child counts from that of its parent.
        writer = multiprocessing.get_context("spawn").Process(target=step_stats if kind == "run metadata" else event_file, args=(path, events))
        writer.start()
        writer.join()
    return path


def measure(sonde, path):
    command = [sonde, "timeline", "convert", path, "-o", "/dev/null", "--filter", "dur>1000s", "--no-show-dataflow"]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        sys.exit(f"{path} could not be opened")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def counted(sonde, path):
    import json
    info = json.loads(subprocess.run([sonde, "timeline", "info", path, "--json"], capture_output=True).stdout)
    return sum(s["slices"] + s["points"] + 2 * s["flows"] for s in info["sources"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sonde", default=str(ROOT / "build" / "release" / "sonde"))
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if not TOOLS.is_dir():
        sys.exit("the makers of synthetic captures (../shared/tools) are not on this machine")
    kinds = ["kineto", "kineto.gz", "chrome", "xspace", "perfetto", "run metadata", "event file"]
    if options.only:
        kinds = [k for k in kinds if k in options.only.split(",")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {kind: make(folder, kind, options.events, options.sonde) for kind in kinds}
        times = {kind: [] for kind in kinds}
        for _ in range(options.rounds):
            for kind in kinds:
                times[kind].append(measure(options.sonde, files[kind]))
        print("| format | file | events | wall | CPU | events/s | MB/s | peak memory | peak / uncompressed |")
        print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
        for kind in kinds:
            size = files[kind].stat().st_size
            plain = (folder / "k.pt.trace.json").stat().st_size if kind == "kineto.gz" else size
            events = counted(options.sonde, files[kind])
            wall = statistics.median(t[0] for t in times[kind])
            cpu = statistics.median(t[1] for t in times[kind])
            peak = max(t[2] for t in times[kind])
            print(f"| {kind} | {size / 1e6:.1f} MB | {events:,} | {wall:.2f} s | {cpu:.2f} s | {events / wall / 1e6:.2f} M | {plain / wall / 1e6:.0f} |"
                  f" {peak / 1e6:.0f} MB | {peak / plain:.2f} |", flush=True)


if __name__ == "__main__":
    main()
