#!/usr/bin/env python3
"""What a log call costs: sonde.init beside wandb (offline), trackio and MLflow, in one run on one machine.

    PYTHONPATH=build/python/python python bench/run_api.py [--calls 2000]

Each tracker logs the same dict of five numbers per step in a process of its own; measured is the time the training thread
spends in the call (median and 99th percentile) and until everything is on disk. Trackers that are not installed are named.
Also: what system metrics cost a second, and a table of many rows logged and read back.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

VALUES = 5


def measure(log, finish, calls):
    data = {f"m{i}": 0.5 for i in range(VALUES)}
    costs = []
    clock = time.perf_counter
    for step in range(50):
        log(data, step)
    start = clock()
    for step in range(50, 50 + calls):
        before = clock()
        log(data, step)
        costs.append(clock() - before)
    finish()
    whole = clock() - start
    costs.sort()
    return {"median_us": 1e6 * statistics.median(costs), "p99_us": 1e6 * costs[int(0.99 * len(costs))], "us_a_call_until_on_disk": 1e6 * whole / calls}


def with_sonde(folder, calls):
    import sonde

    run = sonde.init(project="bench", dir=folder, code=False)
    return measure(lambda data, step: run.log(data, step=step), run.finish, calls)


def with_wandb(folder, calls):
    import wandb

    run = wandb.init(project="bench", dir=folder, mode="offline", settings=wandb.Settings(silent=True))
    return measure(lambda data, step: run.log(data, step=step), run.finish, calls)


def with_trackio(folder, calls):
    os.environ["TRACKIO_DIR"] = folder
    import trackio

    run = trackio.init(project="bench")
    return measure(lambda data, step: run.log(data, step=step), trackio.finish, calls)


def with_mlflow(folder, calls):
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.start_run()
    return measure(lambda data, step: mlflow.log_metrics(data, step=step), mlflow.end_run, calls)


TRACKERS = {"sonde": with_sonde, "wandb": with_wandb, "trackio": with_trackio, "mlflow": with_mlflow}


def system_cost(folder):
    from sonde import _system

    sampler = _system.Sampler(folder)
    sampler.sample()
    start = time.process_time()
    for _ in range(200):
        sampler.sample()
    return {"ms_of_cpu_a_sample": 1e3 * (time.process_time() - start) / 200}


def table_cost(folder, rows):
    import sonde

    with sonde.init(project="bench", name="table", dir=folder, code=False, system=False, console=False) as run:
        start = time.perf_counter()
        for step in range(rows // 1000):
            table = sonde.Table([f"c{i}" for i in range(8)], [[f"text {i}", i, i / 3, True, "a", "b", -i, step] for i in range(1000)])
            run.log({"t": table}, step=step)
        return {"rows": rows, "us_a_row": 1e6 * (time.perf_counter() - start) / rows, "bytes": os.path.getsize(run.table_file("t"))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--inside")
    options = parser.parse_args()
    if options.inside:
        with tempfile.TemporaryDirectory() as folder:
            extra = {"system": lambda: system_cost(folder), "table": lambda: table_cost(folder, options.rows)}
            found = extra[options.inside]() if options.inside in extra else TRACKERS[options.inside](folder, options.calls)
            print("RESULT " + json.dumps(found), flush=True)
        os._exit(0)  # some trackers wait for services they have started
    results = {}
    for name in [*TRACKERS, "system", "table"]:
        calls = options.calls if name in ("sonde", "wandb") else max(50, options.calls // 10)
        run = subprocess.run([sys.executable, __file__, "--inside", name, "--calls", str(calls), "--rows", str(options.rows)], capture_output=True, text=True, check=False)
        line = next((one for one in run.stdout.splitlines() if one.startswith("RESULT ")), None)
        if line is None:
            print(f"{name:8} not measured: {(run.stderr.strip().splitlines() or ['no output'])[-1][:120]}")
            continue
        results[name] = json.loads(line[7:])
        print(f"{name:8} " + "  ".join(f"{key} {value:.1f}" if isinstance(value, float) else f"{key} {value}" for key, value in results[name].items()))
    ours = results.get("sonde", {}).get("median_us")
    for name in ("wandb", "trackio", "mlflow"):
        if ours and name in results:
            print(f"a call of {name} costs {results[name]['median_us'] / ours:.0f} times as much as one of sonde")


if __name__ == "__main__":
    main()
