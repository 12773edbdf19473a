#!/usr/bin/env python3
"""A team's million runs: filtered, sorted and drawn from ClickHouse's tables and by a server over them, beside MLflow's SQLite store.

    bench/team.py [--runs 1e6] [--curves 500] [--points 2e5] [--only runs|curves] [--program build/release/sonde]

Needs chdb (ClickHouse's newest engine, in this process behind as much HTTP as is needed) and mlflow. Both stores are filled by their own SQL with the same
numbers, which is not what is measured; then each question is asked three times, alternating, and the median is printed. MLflow's file store is a
folder a run and is left out: a million of them cannot be made in reasonable time.
"""

import argparse
import contextlib
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/warehouse"))
from databases import Newest  # noqa: E402

ROUNDS = 3


def timed(question):
    begin = time.perf_counter()
    answer = question()
    return (time.perf_counter() - begin) * 1000, answer


def race(questions):
    """Median milliseconds of each, alternating; their answers."""
    taken, answers = {name: [] for name in questions}, {}
    for _ in range(ROUNDS):
        for name, question in questions.items():
            ms, answers[name] = timed(question)
            taken[name].append(ms)
    for name, values in taken.items():
        print(f"| {name} | {statistics.median(values):.0f} ms |", flush=True)
    return answers


class Served:
    """Sonde over the tables: its start is measured."""

    def __init__(self, program, port, project):
        begin = time.perf_counter()
        self.process = subprocess.Popen([program, "--store", f"clickhouse://127.0.0.1:{port}/team", "--project", project, "--port", "0", "--reload_interval", "0"],
                                        text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.base = next(f"http://127.0.0.1:{found[1]}" for line in self.process.stdout if (found := re.search(r"http://[\w.\[\]:]+:(\d+)", line)))
        self.start_s = time.perf_counter() - begin

    def ask(self, path, question=None):
        body = json.dumps(question).encode() if question is not None else None
        with urllib.request.urlopen(urllib.request.Request(self.base + path, body, {"Content-Type": "application/json"}), timeout=600) as answer:
            return answer.read()

    def memory_mb(self):
        return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1024

    def stop(self):
        self.process.terminate()
        self.process.wait()


def fill(database, project, runs, points):
    """Points and what a push would say about their series and runs; the value of a run's last point is its place in a shuffled order."""
    value = f"if(n = {points - 1}, ((r * 7919) % {runs}) / {runs}, 1 + 1 / (n + 1))"
    name = "concat('run', leftPad(toString(r), 7, '0'))"
    some = max(1, 5_000_000 // points)
    for begin in range(0, runs, some):
        each = f"(SELECT intDiv(number, {points}) + {begin} AS r, number % {points} AS n FROM numbers({min(some, runs - begin) * points}))"
        database.ask(f"INSERT INTO team.points SELECT '{project}', {name}, 'loss', n, n, 1.7e9 + n, {value} FROM {each}")
    all_runs = f"(SELECT number AS r, {points - 1} AS n FROM numbers({runs}))"
    database.ask(f"INSERT INTO team.series SELECT '{project}', {name}, 'loss', 0, 'scalars', '', '', '', 1, 0, 1, 1, {points}, 0, 0, 0, 1.7e9, 2, n, "
                 f"1.7e9 + n, {value}, 0, 1 FROM {all_runs}")
    database.ask(f"INSERT INTO team.runs SELECT '{project}', {name}, {name}, 1.7e9, 1.7e9, 1.7e9 + n, {points}, 1000, 1, 0, 1, 1 FROM {all_runs}")


def mlflow_with(folder, runs, points):
    """An SQLite store of MLflow with such runs: its client and the experiment."""
    os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{folder}/mlflow.db"
    from mlflow.tracking import MlflowClient

    client = MlflowClient(f"sqlite:///{folder}/mlflow.db")
    experiment = client.create_experiment("bench")
    with contextlib.closing(sqlite3.connect(folder / "mlflow.db")) as base:
        ids = [f"{r:032x}" for r in range(runs)]
        base.executemany("INSERT INTO runs (run_uuid, name, source_type, entry_point_name, user_id, status, start_time, end_time, lifecycle_stage, artifact_uri, experiment_id, source_name, source_version) "
                         "VALUES (?, ?, 'LOCAL', '', 'u', 'FINISHED', 1700000000000, 1700000100000, 'active', 'x', ?, '', '')", ((i, i, experiment) for i in ids))
        base.executemany("INSERT INTO latest_metrics (key, value, timestamp, step, is_nan, run_uuid) VALUES ('loss', ?, 1700000000000, ?, 0, ?)",
                         ((r * 7919 % runs / runs, points - 1, i) for r, i in enumerate(ids)))
        base.executemany("INSERT INTO metrics (key, value, timestamp, step, is_nan, run_uuid) VALUES ('loss', ?, ?, ?, 0, ?)",
                         ((1 + 1 / (n + 1) if n + 1 < points else r * 7919 % runs / runs, 1700000000000 + n, n, i) for r, i in enumerate(ids) for n in range(points)))
        base.commit()
        base.execute("ANALYZE")  # without it the planner joins a hundred times slower
        base.commit()
    return client, experiment, ids


def many_runs(database, program, folder, runs):
    fill(database, "many", runs, 1)
    client, experiment, _ = mlflow_with(folder, runs, 1)
    best = ("SELECT run, argMaxMerge(value) AS loss FROM team.last WHERE project = 'many' AND tag = 'loss' GROUP BY run HAVING loss < 0.5 ORDER BY loss LIMIT 100")
    print(f"\n{runs} runs, those with loss < 0.5, the best 100 first:\n\n| | |\n|---|---|")
    answers = race({"SQL over `last`": lambda: database.ask(best),
                    "MLflow, `search_runs`": lambda: client.search_runs([experiment], "metrics.loss < 0.5", order_by=["metrics.loss ASC"], max_results=100)})
    ours, theirs = answers.values()
    assert [float(value) for _, value in ours] == [run.data.metrics["loss"] for run in theirs]
    server = Served(program, database.port, "many")
    ms, body = timed(lambda: server.ask("/api/v1/runs"))
    print(f"\n`sonde --store` over them: start {server.start_s:.1f} s, list of all runs {ms:.0f} ms ({len(body) / 1e6:.0f} MB), {server.memory_mb():.0f} MB")
    server.stop()


def curves(database, program, folder, runs, points):
    fill(database, "curves", runs, points)
    some = min(runs, 5)
    client, _, ids = mlflow_with(folder, some, points)
    level = "SELECT run, bucket, minMerge(least), maxMerge(most) FROM team.lod WHERE project = 'curves' AND tag = 'loss' AND level = {} GROUP BY run, bucket ORDER BY run, bucket"
    question = {"series": [{"tag": "loss", "runs": "all"}], "px": 640}
    server = Served(program, database.port, "curves")
    first, body = timed(lambda: server.ask("/api/v1/columns", question))
    print(f"\n{runs} curves of {points} points each, {runs * points:.0e} points:\n\n| | |\n|---|---|\n| `sonde --store`, first answer | {first:.0f} ms ({len(body) / 1e6:.1f} MB) |")
    race({"`sonde --store`, again": lambda: server.ask("/api/v1/columns", question),
          "SQL over `lod`, 4096 points a bucket": lambda: database.ask(level.format(12)),
          f"MLflow, `get_metric_history` of {some} curves": lambda: [client.get_metric_history(run, "loss") for run in ids]})
    print(f"\nmemory of the server: {server.memory_mb():.0f} MB")
    server.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=float, default=1e6)
    parser.add_argument("--curves", type=float, default=500)
    parser.add_argument("--points", type=float, default=2e5)
    parser.add_argument("--only", choices=("runs", "curves"))
    parser.add_argument("--program", default=str(ROOT / "build/release/sonde"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sonde-team-") as place:
        folder = Path(place)
        database = Newest(folder)
        empty = folder / "empty"
        empty.mkdir()
        subprocess.run([options.program, "push", str(empty), "--to", f"clickhouse://127.0.0.1:{database.port}/team", "--tables_only"], check=True)
        for part, run in (("runs", lambda at: many_runs(database, options.program, at, int(options.runs))),
                          ("curves", lambda at: curves(database, options.program, at, int(options.curves), int(options.points)))):
            if options.only in (None, part):
                (folder / part).mkdir()
                run(folder / part)
        database.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
