"""Traces of many ranks, made up: a step has input, compute and an all-reduce that waits for the slowest."""

import gzip
import json


def duration(rank, step, slow):
    """Microseconds of compute: all alike but for the slow rank, and for one step in which another one stumbles."""
    return 800 + (rank * 7 + step * 3) % 5 + (400 if rank == slow else 0) + (900 if (rank, step) == (slow + 1, 2) else 0)


def trace(rank, ranks, steps=4, slow=3):
    events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}}]
    at = 1000
    for step in range(steps):
        longest = max(duration(other, step, slow) for other in range(min(ranks, 64)))
        compute = duration(rank, step, slow)
        wait = longest - compute + 20
        parts = [("aten::mm", "cpu_op", 100, compute), ("nccl:all_reduce", "user_annotation", 100 + compute, wait)]
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at, "dur": compute + wait + 120})
        events.append({"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "pid": 1, "tid": 1,
                       "ts": at, "dur": 90})
        for name, category, begin, dur in parts:
            events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": at + begin, "dur": dur})
        at += compute + wait + 130
    return gzip.compress(json.dumps({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks},
                                     "traceEvents": events}).encode(), 1, mtime=0)


def write(folder, ranks, **how):
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for rank in range(ranks):
        path = folder / f"rank{rank:05}.pt.trace.json.gz"
        path.write_bytes(trace(rank, ranks, **how))
        paths.append(path)
    return paths
