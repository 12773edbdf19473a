#!/usr/bin/env python3
"""Large graphs: Sonde's page beside TensorBoard's own, in one run.

    bench/graph.py [--nodes 10000,100000] [--rounds 3] [--python TB_VENV/bin/python] [--limit 300] [--logs DIR]

Makes a GraphDef of each size (layers of scopes: encoder/layer_i/{attention,mlp}/op, 50 operations a layer, chained, with
shapes and shared constants), writes it as the run graph of a log directory, starts both servers and opens each graph page in
headless Chromium, alternating:

  first picture   from opening the address to the first box on screen
  expansion       from the double click on a scope to its inside on screen: the scope of all layers, then five layers

Prints a table of medians; the slowest expansion too. TensorBoard is stopped at --limit seconds and reported as such.
10 000 nodes take about a minute a round; 100 000 nodes up to --limit seconds a round.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import event_log as log
from hparams import ROOT, start_sonde, start_tensorboard, wait_for

LAYER = 50  # operations


def shape_attr(dims: list[int]) -> bytes:
    shape = b"".join(log.field(2, log.varint(1 << 3) + log.varint(size)) for size in dims)
    return log.field(5, log.field(1, "_output_shapes") + log.field(2, log.field(1, log.field(7, shape))))


def node(name: str, op: str, inputs: list[str], dims: list[int]) -> bytes:
    body = log.field(1, name) + log.field(2, op) + b"".join(log.field(3, one) for one in inputs) + log.field(4, "/device:GPU:0") + shape_attr(dims)
    return log.field(1, body)


def graph_def(nodes: int) -> bytes:
    """A chain of layers like a deep transformer's: names, fan-in and residual connections of a real one."""
    parts = [node("input", "Placeholder", [], [32, 512, 1024])]
    before, made, layer = "input", 1, 0
    ops = ["MatMul", "BiasAdd", "Relu", "Mul", "AddV2", "Softmax", "Transpose", "Reshape", "Sub", "Rsqrt"]
    while made + LAYER <= nodes:
        scope = f"encoder/layer_{layer}"
        start = before
        for i in range(LAYER):
            part = "attention" if i < LAYER // 2 else "mlp"
            name = f"{scope}/{part}/block_{i % (LAYER // 2) // 5}/{ops[i % len(ops)].lower()}_{i}"
            if i % 10 == 0:
                parts.append(node(name, "Const", [], [1024, 1024]))
            else:
                extra = [start] if i == LAYER - 1 else []
                parts.append(node(name, ops[i % len(ops)], [before, *extra], [32, 512, 1024]))
                before = name
            made += 1
        layer += 1
    parts.append(node("output", "Identity", [before], [32, 512, 1024]))
    return b"".join(parts)


def make(folder: Path, nodes: int) -> None:
    event = log.double(1, 1.7e9 + 1) + log.field(4, graph_def(nodes))
    log.write(folder / "train" / "events.out.tfevents.1700000000.bench", [log.first(1.7e9), log.record(event)])


def browser(which: str, address: str, limit: int) -> dict:
    answer = subprocess.run(["node", ROOT / "bench/graph.mjs", which, address, str(limit)], capture_output=True, text=True, timeout=limit * 2 + 120)
    if answer.returncode != 0:
        raise RuntimeError(answer.stderr.strip() or "the browser failed")
    return json.loads(answer.stdout)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--nodes", default="10000,100000")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--python", default=sys.executable, help="an interpreter with tensorboard")
    arguments.add_argument("--limit", type=int, default=300, help="seconds until a page is stopped")
    arguments.add_argument("--logs", type=Path, help="where the log directories are kept (default: a temporary one)")
    arguments.add_argument("--make", type=Path, metavar="DIR", help="only make the log directory")
    arguments.add_argument("--no-rival", action="store_true", help="Sonde alone")
    options = arguments.parse_args()
    if options.make:
        make(options.make, int(options.nodes.split(",")[0]))
        return 0
    print("| nodes | | first picture | expansion, median | slowest |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        for size in (int(text) for text in options.nodes.split(",")):
            logdir = (options.logs or Path(temporary)) / f"graph_{size}"
            if not logdir.exists():
                make(logdir, size)
            children = []
            results: dict[str, list[dict]] = {"Sonde": [], "TensorBoard": []}
            try:
                child, address = start_sonde(logdir)
                children.append(child)
                wait_for(address + "api/v1/graphs", lambda a: len(a) > 0, 60)
                rival = ""
                if not options.no_rival:
                    child, rival = start_tensorboard(options.python, logdir)
                    children.append(child)
                    wait_for(rival + "data/plugin/graphs/info", lambda a: len(a) > 0, 120)
                stopped = False
                for _ in range(options.rounds):
                    results["Sonde"].append(browser("sonde", address, options.limit))
                    if rival and not stopped:
                        results["TensorBoard"].append(browser("tensorboard", rival, options.limit))
                        stopped = results["TensorBoard"][-1].get("first_ms") is None  # once is enough
            finally:
                for child in children:
                    child.terminate()
                    child.wait()
            for name, rounds in results.items():
                if rounds:
                    print(row(size, name, rounds, options.limit), flush=True)
    return 0


def row(size: int, name: str, rounds: list[dict], limit: int) -> str:
    first = [one.get("first_ms") for one in rounds]
    opened = [ms for one in rounds for ms in one.get("open_ms", [])]
    failed = sum(one.get("failed", 0) for one in rounds)
    start = f"stopped at {limit} s" if any(ms is None for ms in first) else f"{statistics.median(first):.0f} ms"
    middle = f"{statistics.median(opened):.0f} ms" if opened else "–"
    slowest = f"{max(opened):.0f} ms" if opened else "–"
    if failed:
        slowest += f", {failed} stopped at {limit} s"
    return f"| {size} | {name} | {start} | {middle} | {slowest} |"


if __name__ == "__main__":
    sys.exit(main())
