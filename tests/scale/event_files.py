"""Event files of scalars, made by what the benchmarks make theirs with. The value of a point is its step."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
import event_log

START = 1.7e9


def scalar_file(tags, steps):
    return event_log.first(START) + b"".join(event_log.scalars(START + step, step, {tag: float(step)}) for step in range(steps) for tag in tags)


def event_file(points):
    return scalar_file(["loss"], points)
