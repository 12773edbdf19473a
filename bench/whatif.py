#!/usr/bin/env python3
"""What-If on 100 000 examples of 50 features: load, distances, thresholds with two-feature slicing, statistics, worst slices,
each beside the same computation in numpy, and the original tool's formulas in plain Python on 10 000.

    bench/whatif.py [--program build/release/sonde] [--rows 100000] [--features 50] [--original PYTHON --witwidget FOLDER]

Times of the server are those of whole answers over HTTP, the best of five; on a busy machine they are upper bounds, so the
processor time of all its threads stands beside them. With --original a Python that has TensorFlow and the folder that
holds the package witwidget: its partial dependence over 10 000 examples beside that of /data/plugin/whatif.
"""

import argparse
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
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


def processor_ms(pid):
    """Of all threads that are still there."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[0])
        except OSError:
            pass  # it has just ended
    return total / 1e6


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


# Runs in a Python with TensorFlow: the original's own functions over the examples of a file. Its package is entered
# below its __init__, which wants a notebook.
ORIGINAL = """
import json, os, sys, time, types
os.environ["PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"] = "python"
package = types.ModuleType("witwidget")
package.__path__ = [sys.argv[2] + "/witwidget"]
sys.modules["witwidget"] = package
sys.path.append(sys.argv[2])
import tensorflow as tf
from witwidget._utils import inference_utils
examples = [tf.train.Example.FromString(one.numpy()) for one in tf.data.TFRecordDataset(sys.argv[1])]
def score(given):
    return [[1 - min(1, max(0, e.features.feature["x0"].float_list.value[0] / 10)), min(1, max(0, e.features.feature["x0"].float_list.value[0] / 10))] for e in given]
bundle = inference_utils.ServingBundle("", "", "classification", "", "", False, "", "", custom_predict_fn=score)
params = inference_utils.VizParams(0.0, 10.0, examples[:50], 10, "")
begin = time.perf_counter()
chart = inference_utils.mutant_charts_for_feature(examples, "x0", [bundle], params)
wall = time.perf_counter() - begin
begin = time.perf_counter()
features = inference_utils.get_eligible_features(examples[:50], 10)
print(json.dumps({"ms": wall * 1000, "eligible_ms": (time.perf_counter() - begin) * 1000, "chart": chart["data"]}, default=float))
"""


class Scores(http.server.BaseHTTPRequestHandler):
    """TensorFlow Serving's REST over the same rule as the original's function: x0 / 10."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        told = []
        for one in body["examples"]:
            x = min(1, max(0, one["x0"] / 10))
            told.append([["0", 1 - x], ["1", x]])
        data = json.dumps({"results": told}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def compare_with_original(chosen, folder):
    """Partial dependence of one feature over 10 000 examples: 100 000 predictions."""
    endpoint = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Scores)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    address = f"127.0.0.1:{endpoint.server_address[1]}"
    path = Path(folder) / "examples.tfrecord"
    code = (
        "import sys, tensorflow as tf, random\n"
        "random.seed(1)\n"
        "with tf.io.TFRecordWriter(sys.argv[1]) as out:\n"
        "    for _ in range(10000):\n"
        "        feature = {f'x{i}': tf.train.Feature(float_list=tf.train.FloatList(value=[round(random.uniform(0, 10), 2)])) for i in range(10)}\n"
        "        out.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())\n"
    )
    subprocess.run([chosen.original, "-c", code, str(path)], check=True, stderr=subprocess.DEVNULL)
    told = subprocess.run([chosen.original, "-c", ORIGINAL, str(path), chosen.witwidget], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    theirs = json.loads(told.stdout.splitlines()[-1])
    arguments = [chosen.program, "--logdir", folder, "--port", "0", "--whatif_endpoint", f"http://{address}"]
    server = subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True, env={**os.environ, "XDG_STATE_HOME": folder})
    for line in server.stderr:
        if found := re.search(r" at (http://\S+)", line):
            break
    threading.Thread(target=server.stderr.read, daemon=True).start()
    base = found[1].rstrip("/") + "/data/plugin/whatif"

    def ask(what, **named):
        with urllib.request.urlopen(f"{base}/{what}?{urllib.parse.urlencode(named)}", timeout=600) as answer:
            return json.loads(answer.read())

    begin = time.perf_counter()
    ask("examples_from_path", examples_path=str(path), max_examples=10_000)
    load = (time.perf_counter() - begin) * 1000
    model = {"inference_address": address, "model_name": "m", "model_type": "classification", "model_version": "", "model_signature": ""}
    begin, spent = time.perf_counter(), processor_ms(server.pid)
    chart = ask("infer_mutants", feature_name="x0", example_index=-1, x_min=0, x_max=10, feature_index_pattern="", **model)
    wall = (time.perf_counter() - begin) * 1000
    print(f"partial dependence of one feature, 10 000 examples, 100 000 predictions: witwidget {theirs['ms']:.0f} ms; "
          f"sonde {wall:.0f} ms with the model behind HTTP in Python, {processor_ms(server.pid) - spent:.0f} ms of it its own processor time; "
          f"reading the examples {load:.0f} ms")

    def points(data):
        series = data[0][0] if isinstance(data[0], list) else data[0]
        return [(one["step"], one["scalar"]) for one in series["1"]]

    ours, original = points(chart["data"]), points(theirs["chart"])
    apart = max(abs(a[1] - b[1]) for a, b in zip(ours, original))
    print(f"largest difference of the {len(ours)} points: {apart:.2e}")
    server.terminate()
    server.wait(10)
    endpoint.shutdown()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(ROOT / "build/release/sonde"))
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--original", help="a Python with TensorFlow")
    parser.add_argument("--witwidget", help="the folder that holds the package witwidget")
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

        def timed(work, times=5):
            """Best wall time and the processor time of that turn."""
            turns = []
            for _ in range(times):
                spent, begin = processor_ms(server.pid), time.perf_counter()
                work()
                turns.append(((time.perf_counter() - begin) * 1000, processor_ms(server.pid) - spent))
            return min(turns)

        name = json.loads(ask(""))["sets"][0]["id"]
        rows = []
        load = timed(lambda: ask(f"/{name}"), 1)
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

        rows.append(("distances, 10 nearest", timed(lambda: ask(f"/{name}/nearest", {"row": 3})), best(distances), 20))

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

        rows.append(("thresholds, curves, strategies, 48 slices", timed(lambda: ask(f"/{name}/performance", {"slices": ["group", "city"]})), best(thresholds, 3), 100))

        def statistics():
            for i in range(numbers.shape[1]):
                column = numbers[:, i]
                column.mean(), column.std(), np.quantile(column, np.linspace(0, 1, 11)), np.histogram(column, 10)

        rows.append(("statistics", timed(lambda: ask(f"/{name}/features")), best(statistics, 3), 300))
        rows.append(("worst slices, pairs", timed(lambda: ask(f"/{name}/worst", {}), 2), float("nan"), float("nan")))
        server.terminate()
        server.wait(10)
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"{'':44}{'sonde ms':>10}{'cpu ms':>10}{'numpy ms':>10}{'goal ms':>9}")
        for what, (ours, spent), theirs, goal in rows:
            print(f"{what:44}{ours:10.1f}{spent:10.1f}{theirs:10.1f}{goal:9.0f}{'' if not ours > goal else '  missed'}")
        small = min(chosen.rows, 10_000)

        def original():
            counts = [[0, 0, 0, 0] for _ in range(101)]
            for truth, s in zip(label[:small].tolist(), score[:small].tolist()):
                for k in range(101):
                    positive = not (k > s * 100)
                    counts[k][(0 if truth else 1) if positive else (3 if truth else 2)] += 1

        print(f"the original's threshold loop in plain Python on {small} examples, one slice: {best(original, 1):.0f} ms")
        if chosen.original:
            compare_with_original(chosen, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
