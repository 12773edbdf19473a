"""Routes asked about runs, tags and captures that exist, with numbers and texts at their ends: a clear 4xx or a good
answer, never 500. Most mistakes in arithmetic are behind a name that is right (tools/sanitize sees them)."""

import gzip
import json
import random
import subprocess
import time
from urllib.parse import urlencode

import pytest
from server import ROOT, SONDE, running
from test_routes import PATHS

ENDS = [-(2**63), 2**63 - 1, -(2**62), 2**62, 2**53 + 1, 2**32, 2**31, 65536, 1000, 3, 1, 0, -1, 0.5, -0.0, 1e308, -1e308, 1e-320]
TEXTS = ["", "a", "step", "name", "loss", "\0", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "(", "a" * 5000, "select * from slices", "%s%n"]
NUMBERS = ["t0", "t1", "px", "limit", "offset", "step", "steps", "i", "k", "p", "bins", "depth", "track", "from", "count", "since", "after", "most", "num_rows", "sample", "index",
           "timeout_ms", "w", "dims", "begin_ps", "end_ps", "slice", "learning_rate", "perplexity", "max_points"]
WORDS = ["q", "by", "sql", "text", "argument", "kind", "format", "x", "xscale", "sort", "filter", "metric", "method", "name", "scope", "node", "table", "column", "restarts", "aggregate", "as"]
SESSION = "train/bound"
SKIPPED = {"/api/v1/events", "/data/plugin/profile/capture_profile", "/api/v1/profile/capture", "/api/v1/reload"}  # endless, or they act on others


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    logs = tmp_path_factory.mktemp("logs")
    subprocess.run([SONDE, "demo", str(logs)], check=True, capture_output=True)
    folder = logs / "train/plugins/profile/bound"
    folder.mkdir(parents=True)
    (folder / "vm.xplane.pb").write_bytes(gzip.decompress((ROOT / "tests/data/profile/tf_loop_input_bound.xplane.pb.gz").read_bytes()))
    with running(logdir=logs) as s:
        yield s


@pytest.fixture(scope="module")
def names(server):
    """(run, tag) of every kind of data."""
    while (answer := json.loads(server.ask("/api/v1/tags").body)) and ("partial" in answer or not answer["tags"]):
        time.sleep(0.05)
    tags = answer["tags"]
    runs = {run["id"]: run["name"] for run in json.loads(server.ask("/api/v1/runs").body)["runs"]}
    return [(runs[tag["runs"][0][0]], tag["name"]) for tag in tags]


def some_value(dice):
    return dice.choice(ENDS) if dice.random() < 0.7 else dice.choice(TEXTS)


def some_body(dice, names):
    run, tag = dice.choice(names)
    body = {"series": [{"tag": tag, "runs": dice.choice([[run], [0], "all", [2**62], []])}], "agg": dice.choice([["min", "max", "mean", "last", "wall"], [], ["none"]]),
            "smooth": dice.choice([None, {"kind": dice.choice(["ema", "mean", "gauss", "none"]), "p": dice.choice(ENDS)}]), "range": dice.choice([None, [dice.choice(ENDS), dice.choice(ENDS)]]),
            "rows": [{"track": dice.choice([0, 1, 2, 2**31, -1]), "depth": [dice.choice(ENDS), dice.choice(ENDS)]} for _ in range(3)], "tracks": [0, 1, dice.choice(ENDS)],
            "also": [{"t0": dice.choice(ENDS), "t1": dice.choice(ENDS)}], "run": run, "tag": tag, "embedding": "0", "columns": [f"last:{tag}"],
            "group": dice.choice([None, {"sets": [{"key": "a", "runs": [0, 1]}], "centre": "mean", "band": dice.choice(["std", "boot95", "q:0.05,0.95", "q:9,-1"])}])}
    for name in dice.sample(NUMBERS, 8):
        body[name] = dice.choice(ENDS)
    for name in dice.sample(WORDS, 3):
        body[name] = some_value(dice)
    return json.dumps({key: body[key] for key in dice.sample(sorted(body), dice.randrange(3, len(body)))}).encode()


@pytest.mark.parametrize("path", [path for path in PATHS if path not in SKIPPED])
def test_route_takes_the_ends_of_numbers(server, names, path):
    dice = random.Random(path)
    for _ in range(60 if "/trace" in path or "/columns" in path else 25):
        run, tag = dice.choice(names)
        query = {"session": SESSION, "host": dice.choice(["0", "1", "-1"]), "run": run, "tag": tag, "tool": dice.choice(["overview_page", "trace_viewer", "memory_profile", "framework_op_stats"])}
        if path.startswith("/data/plugin/profile"):
            query |= {"run": SESSION, "host": "vm"}
        for name in dice.sample(NUMBERS, 4):
            query[name] = dice.choice(ENDS)
        if dice.random() < 0.3:
            query[dice.choice(WORDS)] = some_value(dice)
        target = path.replace("*", str(dice.choice(["0", "1", 2**62, "0/nodes", "vm"])))
        for method, body in (("GET", b""), ("POST", some_body(dice, names))):
            reply = server.ask(f"{target}?{urlencode(query)}", method, {"Content-Type": "application/json"}, body)
            assert reply is not None, (method, target, query, body)
            assert reply.status < 500, (method, target, query, body[:300], reply.status, reply.body[:200])


@pytest.mark.parametrize("t0, t1", [(-(2**63), 2**63 - 1), (2**63 - 2, 2**63 - 1), (-(2**63), -(2**63) + 1)])
def test_a_view_of_all_time_has_ticks_that_fit(server, t0, t1):
    body = json.dumps({"t0": t0, "t1": t1, "px": 1000, "rows": [{"track": track} for track in range(5)]}).encode()
    for what in ("view", "counters"):
        reply = server.ask(f"/api/v1/trace/{what}?session={SESSION}&host=0", "POST", {"Content-Type": "application/json"}, body)
        if t0 < 0 < t1:
            assert reply.status == 200
            assert what == "counters" or b'"tick_ps":8589934591' in reply.body, reply.body[:300]
        else:
            assert reply.status == 400
            assert b"t1 must be after t0" in reply.body
