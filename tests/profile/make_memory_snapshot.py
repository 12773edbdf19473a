#!/usr/bin/env python3
"""Writes a memory snapshot of the form torch.cuda.memory._dump_snapshot writes, without a GPU.

The structure is the documented one: segments with blocks, and per device a list of what the allocator did. The program
it pretends to have watched trains a small model: parameters that stay, activations that grow and shrink in each step, and
one list that keeps a tensor of each step (the leak). Run it with a path; --oom ends with a request that found no memory.
"""

import argparse
import pickle
from pathlib import Path
from typing import Any

MIB = 1 << 20
BASE = 0x7F0000000000


def frame(name: str, line: int, file: str = "/srv/train/train.py") -> dict[str, Any]:
    return {"filename": file, "line": line, "name": name}


TORCH = frame("linear", 125, "/usr/lib/python3/site-packages/torch/nn/modules/linear.py")
ENGINE = {"filename": "??", "line": 0, "name": "torch::autograd::Engine::evaluate_function"}
MAIN = frame("<module>", 90)
STACKS = {
    "parameters": [TORCH, frame("build_model", 20), MAIN],
    "activations": [TORCH, frame("forward", 41), frame("train_step", 60), MAIN],
    "gradients": [ENGINE, frame("train_step", 62), MAIN],
    "history": [frame("remember_losses", 71), frame("train_step", 64), MAIN],
}


class Allocator:
    """One segment that grows at its end, and what happened in it."""

    def __init__(self) -> None:
        self.now_us = 1_700_000_000_000_000
        self.events: list[dict[str, Any]] = []
        self.live: dict[int, tuple[int, str]] = {}
        self.end = BASE

    def record(self, action: str, address: int, size: int, stack: str, **more: int) -> None:
        self.now_us += 500
        self.events.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.now_us,
                            "frames": STACKS[stack], **more})

    def alloc(self, size: int, stack: str) -> int:
        address = self.end
        self.end += size
        self.live[address] = (size, stack)
        self.record("alloc", address, size, stack)
        return address

    def free(self, address: int) -> None:
        size, _ = self.live.pop(address)
        self.record("free_requested", address, size, "gradients")
        self.record("free_completed", address, size, "gradients")


def snapshot(steps: int, with_oom: bool, older: bool) -> dict[str, Any]:
    a = Allocator()
    if older:  # what the history does not know of
        a.live[a.end] = (32 * MIB, "parameters")
        a.end += 32 * MIB
    a.record("segment_alloc", BASE, 512 * MIB, "parameters")
    for _ in range(4):
        a.alloc(8 * MIB, "parameters")
    for _ in range(steps):
        held = [a.alloc((4 + 2 * i) * MIB, "activations") for i in range(6)]
        for address in reversed(held):
            gradient = a.alloc(2 * MIB, "gradients")
            a.free(address)
            a.free(gradient)
        a.alloc(3 * MIB, "history")
    if with_oom:
        a.record("oom", 0, 4096 * MIB, "activations", device_free=100 * MIB)
    blocks: list[dict[str, Any]] = []
    at = BASE
    for address, (size, stack) in sorted(a.live.items()):
        if address > at:
            blocks.append({"address": at, "size": address - at, "requested_size": 0, "state": "inactive", "frames": []})
        blocks.append({"address": address, "size": size, "requested_size": size, "state": "active_allocated",
                       "frames": STACKS[stack]})
        at = address + size
    total = max(512 * MIB, at - BASE)
    if BASE + total > at:
        blocks.append({"address": at, "size": BASE + total - at, "requested_size": 0, "state": "inactive", "frames": []})
    used = sum(size for size, _ in a.live.values())
    segment = {"device": 0, "address": BASE, "total_size": total, "allocated_size": used, "active_size": used,
               "requested_size": used, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
               "is_expandable": False, "frames": STACKS["parameters"], "blocks": blocks}
    return {"segments": [segment], "device_traces": [a.events, []],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1}, "external_annotations": []}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--oom", action="store_true")
    parser.add_argument("--older", action="store_true", help="something was allocated before the history began")
    parser.add_argument("--protocol", type=int, default=4)
    args = parser.parse_args()
    args.path.write_bytes(pickle.dumps(snapshot(args.steps, args.oom, args.older), protocol=args.protocol))


if __name__ == "__main__":
    main()
