#!/usr/bin/env python3
"""What-If on 100 000 examples of 50 features: load, distances, thresholds with two-feature slicing, statistics, worst slices,
each beside the same computation in numpy, and the original tool's formulas in plain Python on 10 000.

    bench/whatif.py [--program build/release/sonde] [--rows 100000] [--features 50]

Times of the server are those of whole answers over HTTP, the best of five; on a busy machine they are upper bounds.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def best(work, times=5):
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return min(taken) * 1000


def made(path, rows, features):
    random = np.random.default_rng(1)
    numbers = random.normal(0, 1, (rows, features - 2)).round(4)
    group, city = random.choice(list("abcd"), rows), random.choice([f"city{i}" for i in range(12)], rows)
    label = (random.random(rows) < 1 / (1 + np.exp(-numbers[:, 0]))).astype(int)
    score = np.clip(1 / (1 + np.exp(-numbers[:, 0] - random.normal(0, 0.5, rows))), 0, 1).round(4)
    with open(path, "w") as out:
        out.write(",".join([f"x{i}" for i in range(features - 2)] + ["group", "city", "label", "score"]) + "\n")
        for i in range(rows):
            out.write(",".join(map(str, numbers[i].tolist())) + f",{group[i]},{city[i]},{label[i]},{score[i]}\n")
    return numbers, group, city, label, score


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build/release/sonde"))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=50)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        numbers, group, city, label, score = made(Path(folder) / "d.csv", chosen.rows, chosen.features)
        (Path(folder) / "whatif.json").write_text(json.dumps({"data": "d.csv", "label": "label", "models": [{"name": "m", "columns": ["score"]}]}))
        server = subprocess.Popen([chosen.program, "--logdir", folder, "--port", "0"], stderr=subprocess.PIPE, text=True, env={**os.environ, "XDG_STATE_HOME": folder})
        for line in server.stderr:
            if found := re.search(r" at (http://\S+)", line):
                break
        threading.Thread(target=server.stderr.read, daemon=True).start()
        base = found[1].rstrip("/") + "/api/v1/whatif"

        def ask(what, body=None):
            data = None if body is None else json.dumps(body).encode()
            with urllib.request.urlopen(urllib.request.Request(base + what, data=data), timeout=120) as answer:
                return answer.read()

        name = json.loads(ask(""))["sets"][0]["id"]
        rows = []
        begin = time.perf_counter()
        ask(f"/{name}")
        load = (time.perf_counter() - begin) * 1000
        begin = time.perf_counter()
        np.genfromtxt(Path(folder) / "d.csv", delimiter=",", skip_header=1, usecols=range(5), max_rows=min(chosen.rows, 5000))
        rows.append(("load CSV", load, (time.perf_counter() - begin) * 1000 * chosen.rows / min(chosen.rows, 5000) * chosen.features / 5, 1000))
        groups = [np.unique(c, return_inverse=True)[1] for c in (group, city)]

        def distances():
            scaled = np.abs(numbers - numbers[3]) / numbers.std(0)
            total = scaled.sum(1)
            for codes in groups:
                total += np.where(codes == codes[3], 0, ((np.bincount(codes) / len(codes)) ** 2).sum())
            return np.argsort(total)[:10]

        rows.append(("distances, 10 nearest", best(lambda: ask(f"/{name}/nearest", {"row": 3})), best(distances), 20))

        def thresholds():
            both = groups[0] * 12 + groups[1]
            for s in range(48):
                mine = both == s
                scaled = score[mine] * 100
                truth = label[mine] == 1
                for k in range(101):
                    positive = ~(k > scaled)
                    (positive & truth).sum(), (positive & ~truth).sum()
                np.argsort(-score[mine])

        rows.append(("thresholds, curves, strategies, 48 slices", best(lambda: ask(f"/{name}/performance", {"slices": ["group", "city"]})), best(thresholds, 3), 100))

        def statistics():
            for i in range(numbers.shape[1]):
                column = numbers[:, i]
                column.mean(), column.std(), np.quantile(column, np.linspace(0, 1, 11)), np.histogram(column, 10)

        rows.append(("statistics", best(lambda: ask(f"/{name}/features")), best(statistics, 3), 300))
        rows.append(("worst slices, pairs", best(lambda: ask(f"/{name}/worst", {}), 2), float("nan"), float("nan")))
        server.terminate()
        server.wait(10)
        print(f"{'':44}{'sonde ms':>10}{'numpy ms':>10}{'goal ms':>9}")
        for what, ours, theirs, goal in rows:
            print(f"{what:44}{ours:10.1f}{theirs:10.1f}{goal:9.0f}{'' if not ours > goal else '  missed'}")
        small = min(chosen.rows, 10_000)

        def original():
            counts = [[0, 0, 0, 0] for _ in range(101)]
            for truth, s in zip(label[:small].tolist(), score[:small].tolist()):
                for k in range(101):
                    positive = not (k > s * 100)
                    counts[k][(0 if truth else 1) if positive else (3 if truth else 2)] += 1

        print(f"the original's threshold loop in plain Python on {small} examples, one slice: {best(original, 1):.0f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
