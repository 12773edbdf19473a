#!/usr/bin/env python3
"""How long Sonde reads a recording of ten million tensors, and what memory that takes.

    python bench/numerics_load.py [--traces 10000000] [--binary build/release/sonde]

Writes a dump of TensorFlow's debugger (FULL_HEALTH, 100 ops, one of them bad once, near the end), asks
`sonde numerics` for the first fault and prints wall time, processor time and the largest resident memory.
"""

import argparse
import json
import resource
import struct
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = []
for n in range(256):
    for _ in range(8):
        n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def record(payload):
    head = struct.pack("<Q", len(payload))
    return head + struct.pack("<I", masked_crc(head)) + payload + struct.pack("<I", masked_crc(payload))


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, content):
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    if isinstance(content, str):
        content = content.encode()
    return varint(number << 3 | 2) + varint(len(content)) + content


def event(number, body, wall=1000.0):
    return record(b"\x09" + struct.pack("<d", wall) + field(number, body))


def trace(op, nan):
    values = struct.pack("<11d", -1, 0, 1, 2, 1000, 0, 0, nan, 400, 0, 600 - nan)
    tensor = field(1, 2) + field(2, field(2, field(1, 11))) + field(4, values)
    return event(10, field(1, "g") + field(2, op) + field(4, 4) + field(5, tensor) + field(6, "/device:CPU:0"))


def make(folder, count):
    prefix = folder / "tfdbg_events.1.bench"
    names = [f"block_{i // 10}/op_{i}" for i in range(100)]
    graphs = [event(8, field(1, "g") + field(2, "train_step"))]
    for i, name in enumerate(names):
        graphs.append(event(7, field(1, "MatMul") + field(2, name) + field(4, "g") + (field(6, f"{names[i - 1]}:0") if i else b"")))
    for kind in ("source_files", "stack_frames", "execution"):
        Path(f"{prefix}.{kind}").write_bytes(b"")
    Path(f"{prefix}.graphs").write_bytes(b"".join(graphs))
    step = b"".join(trace(name, 0) for name in names)
    block = step * 100
    with open(f"{prefix}.graph_execution_traces", "wb") as file:
        for _ in range(count // 10_000 - 1):
            file.write(block)
        file.write(step * 98 + b"".join(trace(name, i >= 40) for i, name in enumerate(names)) + step)
    Path(f"{prefix}.metadata").write_bytes(event(3, field(1, "2.21.0") + field(2, "debug.Event:1") + field(3, "bench")))
    return Path(f"{prefix}.graph_execution_traces").stat().st_size


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--traces", type=int, default=10_000_000)
    arguments.add_argument("--binary", default=str(ROOT / "build" / "release" / "sonde"))
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        size = make(Path(folder), options.traces)
        began = time.monotonic()
        done = subprocess.run([options.binary, "numerics", "--json", folder], capture_output=True, text=True, check=False)
        wall = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = json.loads(done.stdout)
    print(answer["sentence"])
    print(f"{options.traces} traces, {size / 1e9:.2f} GB on disk: {wall:.1f} s, {used.ru_utime + used.ru_stime:.1f} s of processor time, "
          f"{used.ru_maxrss / 1024:.0f} MB resident at most")
    if (answer["op"], answer["step"]) != ("block_4/op_40", options.traces // 100 - 2):
        raise SystemExit(f"wrong: {answer['op']} in run {answer['step']}")


if __name__ == "__main__":
    main()
