#!/usr/bin/env python3
"""What a log call costs: sonde.init beside wandb (offline), trackio, MLflow and Aim, in one run on one machine.

    PYTHONPATH=build/python/python python bench/run_api.py [--calls 2000] [--rows 1000000] [--console_mb 1000]

Each tracker logs the same dict of five numbers per step in a process of its own; measured is the time the training thread
spends in the call (median and 99th percentile) and until everything is on disk. Trackers that are not installed are named.
An Aim that needs packages of its own is run by the Python that SONDE_AIM_PYTHON names. Also: what system metrics cost a second, and
a table of many rows logged, opened, searched, filtered and sorted over HTTP, and 24 hours of console output read back: time and the
server's memory.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

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


def with_aim(folder, calls):
    import aim

    run = aim.Run(repo=folder, system_tracking_interval=None, log_system_params=False, capture_terminal_logs=False)

    def log(data, step):
        for name, value in data.items():
            run.track(value, name=name, step=step)

    return measure(log, run.close, calls)


TRACKERS = {"sonde": with_sonde, "wandb": with_wandb, "trackio": with_trackio, "mlflow": with_mlflow, "aim": with_aim}
PROGRAM = os.environ.get("SONDE_BINARY") or os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "release", "sonde")


class Server:
    """A server that has read nothing yet, and its peak of memory."""

    def __init__(self, folder):
        self.process = subprocess.Popen([PROGRAM, "--logdir", folder, "--port", "0"], stderr=subprocess.PIPE, text=True)
        line = next(line for line in self.process.stderr if " at http" in line)
        self.url = line.split(" at ")[1].split()[0].rstrip("/")

    def timed(self, path, body=None):
        headers = {"Content-Type": "application/json", "Sonde-Request": "1"}
        request = urllib.request.Request(self.url + "/api/v1/" + path, json.dumps(body).encode() if body else None, headers)
        start = time.perf_counter()
        with urllib.request.urlopen(request) as answer:
            found = json.load(answer)
        return time.perf_counter() - start, found

    def close(self):
        with open(f"/proc/{self.process.pid}/status", encoding="utf-8") as status:
            peak = next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))
        self.process.terminate()
        self.process.wait()
        return peak


def read_table(folder):
    server = Server(folder)
    while not server.timed("tables")[1]["tables"]:
        time.sleep(0.05)
    known = {"run": "bench/table", "table": "t", "limit": 100}
    questions = {
        "open_s": {},
        "page_in_the_middle_s": {"offset": 500_000},
        "search_s": {"q": "text 777"},
        "filter_s": {"filter": [{"col": "c1", "min": 990}]},
        "filter_again_s": {"filter": [{"col": "c1", "min": 995}]},
        "sort_s": {"sort": ["c6", "asc"]},
    }
    found = {name: server.timed("tables/rows", known | more)[0] for name, more in questions.items()}
    return found | {"peak_mb": server.close()}


def console_cost(folder, megabytes):
    import sonde

    sonde.init(project="bench", name="console", dir=folder, code=False, system=False, console=False).finish()
    path = os.path.join(folder, "bench", "console", "console.log")
    line = "%.3f\to0\tstep %d loss \x1b[32m0.12345\x1b[0m %s\n"
    lines = megabytes * 1_000_000 // 90
    with open(path, "w", encoding="utf-8") as file:
        for first in range(0, lines, 100_000):
            file.write("".join(line % (1.7e9 + 86400 * i / lines, i, "x" * 36) for i in range(first, min(lines, first + 100_000))))
    server = Server(folder)
    while not server.timed("consoles")[1]["consoles"]:
        time.sleep(0.05)
    tail, _ = server.timed("console?run=bench/console&from=-500&count=500")
    again, _ = server.timed("console?run=bench/console&from=-500&count=500")
    search, found = server.timed(f"console?run=bench/console&q=step+{lines - 1}+&count=500")
    assert len(found["lines"]) == 1
    return {"mb": os.path.getsize(path) // 1_000_000, "tail_s": tail, "tail_again_s": again, "search_s": search, "peak_mb": server.close()}


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
        logged = {"rows": rows, "us_a_row": 1e6 * (time.perf_counter() - start) / rows, "bytes": os.path.getsize(run.table_file("t"))}
    return logged | (read_table(folder) if os.path.exists(PROGRAM) else {})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--console_mb", type=int, default=1000)
    parser.add_argument("--inside")
    options = parser.parse_args()
    if options.inside:
        with tempfile.TemporaryDirectory() as folder:
            extra = {"system": lambda: system_cost(folder), "table": lambda: table_cost(folder, options.rows), "console": lambda: console_cost(folder, options.console_mb)}
            found = extra[options.inside]() if options.inside in extra else TRACKERS[options.inside](folder, options.calls)
            print("RESULT " + json.dumps(found), flush=True)
        os._exit(0)  # some trackers wait for services they have started
    results = {}
    for name in [*TRACKERS, "system", "table", "console"]:
        calls = options.calls if name in ("sonde", "wandb") else max(50, options.calls // 10)
        python = os.environ.get("SONDE_AIM_PYTHON", sys.executable) if name == "aim" else sys.executable
        command = [python, __file__, "--inside", name, "--calls", str(calls), "--rows", str(options.rows), "--console_mb", str(options.console_mb)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        line = next((one for one in run.stdout.splitlines() if one.startswith("RESULT ")), None)
        if line is None:
            print(f"{name:8} not measured: {(run.stderr.strip().splitlines() or ['no output'])[-1][:120]}")
            continue
        results[name] = json.loads(line[7:])
        print(f"{name:8} " + "  ".join(f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}" for key, value in results[name].items()))
    ours = results.get("sonde", {}).get("median_us")
    for name in ("wandb", "trackio", "mlflow", "aim"):
        if ours and name in results:
            print(f"a call of {name} costs {results[name]['median_us'] / ours:.0f} times as much as one of sonde")


if __name__ == "__main__":
    main()
