#!/usr/bin/env python3
"""Hyper-parameters of many sessions: Sonde's page beside TensorBoard's own, in one run.

    bench/hparams.py [--sessions 10000] [--rounds 3] [--python TB_VENV/bin/python] [--limit 300] [--logs DIR]

Makes a log directory of SESSIONS sessions (seven hyper-parameters, three metrics of five steps), starts both servers, waits
until each has read everything, and opens each page in headless Chromium, alternating:

  first picture   from opening the address to the table (TensorBoard: first 100 rows) and, for Sonde, all parallel coordinates
  filter, sort    from the input to the new rows on screen: Sonde's table of all matching trials, TensorBoard's page of 100
  server          POST /api/v1/hparams/table with filter and sort, 100 rows

Prints a table of medians. TensorBoard is stopped at --limit seconds and reported as such. Takes about 4 minutes at full size.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import event_log as log

ROOT = Path(__file__).resolve().parent.parent
SONDE = Path(os.environ.get("SONDE_PROGRAM", ROOT / "build/release/sonde"))


def make(folder: Path, sessions: int) -> None:
    """A sweep with known effects: lr matters most, then depth, dropout a little, the rest not at all."""
    rng = random.Random(7)
    for i in range(sessions):
        lr, decay = 10 ** rng.uniform(-4.5, -1.5), 10 ** rng.uniform(-6, -1)
        values = {"lr": lr, "weight_decay": decay, "batch": float(rng.choice([32, 64, 128, 256])), "depth": float(rng.choice([18, 34, 50])),
                  "dropout": round(rng.uniform(0, 0.5), 2), "optimizer": rng.choice(["adamw", "sgd", "lion"]), "augment": rng.random() < 0.5}
        top = 0.96 - 0.03 * (math.log10(lr) + 3) ** 2 - 0.1 * values["dropout"] ** 2 + (values["depth"] - 34) * 4e-4 + rng.gauss(0, 0.004)
        wall = 1.7e9 + 40 * i
        parts = [log.first(wall), log.session(wall, values, wall + 1000 + 10 * values["depth"], 2 if i % 97 == 0 else 1)]
        for step in range(5):
            share = 1 - math.exp(-1.2 * (step + 1))
            accuracy = top * share
            parts.append(log.scalars(wall + 200 * step, step * 100, {"val/accuracy": accuracy, "val/loss": 2.3 * (1 - share) + (1 - top) * 3, "epoch_time": 200 + values["depth"]}))
        log.write(folder / f"trial_{i:05d}" / f"events.out.tfevents.{int(wall)}.bench", parts)


def wait_for(url: str, ready, limit_s: float, body: bytes | None = None) -> bool:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        try:
            headers = {"Content-Type": "application/json"} if body else {}
            with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=limit_s) as answer:
                if ready(json.load(answer)):
                    return True
        except (OSError, ValueError):
            pass
        time.sleep(0.5)
    return False


def start_sonde(logdir: Path) -> tuple[subprocess.Popen, str]:
    child = subprocess.Popen([SONDE, "--logdir", logdir, "--port", "0", "--host", "127.0.0.1", "--sidecar", "off"], stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    for line in child.stderr:
        if " at http" in line:
            return child, line[line.index("http"):].split()[0].rstrip("/") + "/"
    raise RuntimeError("sonde did not start")


def start_tensorboard(python: str, logdir: Path) -> tuple[subprocess.Popen, str]:
    child = subprocess.Popen([python, "-m", "tensorboard.main", "--logdir", logdir, "--port", "0", "--host", "127.0.0.1", "--load_fast", "true"],
                             stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    for line in child.stderr:
        if " at http" in line:
            return child, line[line.index("http"):].split()[0].rstrip("/") + "/"
    raise RuntimeError("TensorBoard did not start")


def server_ms(address: str) -> float:
    body = json.dumps({"rows": "groups", "columns": ["name", "hparam:lr", "metric:val/accuracy:last"], "filter": [{"col": "hparam:lr", "min": 1e-4, "max": 1e-2}],
                       "sort": [["metric:val/accuracy:last", "desc"]], "limit": 100}).encode()
    times = []
    for _ in range(9):
        begin = time.perf_counter()
        urllib.request.urlopen(urllib.request.Request(address + "api/v1/hparams/table", body, {"Content-Type": "application/json"})).read()
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def browser(which: str, address: str, limit: int) -> dict:
    answer = subprocess.run(["node", ROOT / "bench/hparams.mjs", which, address, str(limit)], capture_output=True, text=True, timeout=limit + 120)
    if answer.returncode != 0:
        raise RuntimeError(answer.stderr.strip() or "the browser failed")
    return json.loads(answer.stdout)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sessions", type=int, default=10_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--python", default=sys.executable, help="an interpreter with tensorboard")
    arguments.add_argument("--limit", type=int, default=300, help="seconds until a page is stopped")
    arguments.add_argument("--logs", type=Path, help="where the log directory is kept (default: a temporary one)")
    arguments.add_argument("--make", type=Path, metavar="DIR", help="only make the log directory")
    arguments.add_argument("--no-rival", action="store_true", help="Sonde alone")
    options = arguments.parse_args()
    if options.make:
        make(options.make, options.sessions)
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        logdir = (options.logs or Path(temporary)) / f"hparams_{options.sessions}"
        if not logdir.exists():
            make(logdir, options.sessions)
        children = []
        results: dict[str, list[dict]] = {"sonde": [], "tensorboard": []}
        try:
            sonde, sonde_at = start_sonde(logdir)
            children.append(sonde)
            wait_for(sonde_at + "api/v1/hparams/table", lambda a: a["total"] == options.sessions, 120, b'{"rows":"sessions","limit":0}')
            time.sleep(1)
            rival_at, rival_ready = "", True
            if not options.no_rival:
                rival, rival_at = start_tensorboard(options.python, logdir)
                children.append(rival)
                rival_ready = wait_for(rival_at + "data/plugin/hparams/session_groups", lambda a: a.get("totalSize", 0) == options.sessions, options.limit,
                                       json.dumps({"startIndex": 0, "sliceSize": 1, "allowedStatuses": ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"], "colParams": []}).encode())
            for _ in range(options.rounds):
                results["sonde"].append(browser("sonde", sonde_at, options.limit))
                if not options.no_rival and rival_ready:
                    results["tensorboard"].append(browser("tensorboard", rival_at, options.limit))
            server = server_ms(sonde_at)
        finally:
            for child in children:
                child.terminate()
                child.wait()

    def middle(name: str, key: str) -> str:
        values = [one.get(key) for one in results[name]]
        if not values:
            return "not ready within the limit" if name == "tensorboard" and not options.no_rival else "–"
        if any(value is None for value in values):
            problem = next((one["stopped"] for one in results[name] if one.get("stopped")), None)
            if problem is None or key in ("picture_ms", "longest_ms"):  # not measured there
                return "–"
            return f"stopped at {options.limit} s" if "Timeout" in problem or "no new rows" in problem else f"failed: {problem[:80]}"
        return f"{statistics.median(values):.0f} ms"

    print(f"\n{options.sessions} sessions, median of {options.rounds}\n")
    print("| | Sonde | TensorBoard |\n|---|---|---|")
    for key, text in [("table_ms", "first picture: table"), ("picture_ms", "first picture: every line of the parallel coordinates"), ("filter_ms", "filter by an interval, table drawn"),
                      ("sort_ms", "sort by another column, table drawn"), ("longest_ms", "longest block of the page's thread while filtering and sorting")]:
        print(f"| {text} | {middle('sonde', key)} | {middle('tensorboard', key)} |")
    print(f"| server: filter, sort, 100 rows | {server:.1f} ms | – |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
