"""What the server answers under /api/v1 is what docs/api/openapi.yaml says, to the last field."""

import gzip
import json
import re
import subprocess
import time
from urllib.parse import quote, urlencode

import contract
import pytest
from server import ROOT, SONDE, running

RECORDED = list(contract.recorded())
JSON = {"Content-Type": "application/json", "Sonde-Request": "1"}


def test_every_route_is_in_the_contract_and_the_other_way_round():
    routes = set()
    for file in (ROOT / "src/api").rglob("*.cc"):
        routes |= set(re.findall(r'\{"(GET|POST|PATCH|DELETE|PUT)",\s*"/api/v1(/[^"]*)"', file.read_text(encoding="utf-8")))
    written = {(method.upper(), path) for path, item in contract.API["paths"].items() for method in item}
    for method, path in routes:
        fits = [one for one in written if one[0] == method and (one[1] == path or (path.endswith("/*") and one[1].startswith(path[:-1])))]
        assert fits, f"{method} {path} is not in docs/api/openapi.yaml"
    for method, path in written:
        assert any(one[0] == method and (one[1] == path or (one[1].endswith("/*") and path.startswith(one[1][:-1]))) for one in routes), f"no route answers {method} {path}"


def test_the_contract_names_every_operation_once_and_only_what_exists():
    ids = [one["operationId"] for item in contract.API["paths"].values() for one in item.values()]
    assert len(ids) == len(set(ids))
    text = json.dumps(contract.API)
    for name in re.findall(r"#/components/schemas/(\w+)", text):
        assert name in contract.API["components"]["schemas"], name
    for name in contract.API["components"]["schemas"]:
        assert f"/schemas/{name}\"" in text, f"{name} is used nowhere"


def test_a_wrong_answer_is_seen():
    good = {"version": "1", "api": 1, "boot": "x", "rev": 1, "logdir": "", "title": "", "sidecar": {"path": "", "writable": True}, "limits": {"cells": 1, "body_bytes": 1, "upload_bytes": 1}}
    kind = "application/json"
    assert contract.problems("GET", "/info", 200, kind, good) == []
    assert contract.problems("GET", "/info", 200, kind, {**good, "rev": "1"})
    assert contract.problems("GET", "/info", 200, kind, {**good, "more": 1})
    assert contract.problems("GET", "/info", 200, kind, {key: one for key, one in good.items() if key != "boot"})
    assert contract.problems("GET", "/info", 200, "text/plain", None)
    assert contract.problems("GET", "/nothing", 200, kind, good)


@pytest.mark.parametrize("file", sorted({row[0] for row in RECORDED}))
def test_recorded_answers_fit(file):
    wrong = [text for name, *row in RECORDED if name == file for text in contract.problems(*row)]
    assert not wrong, "\n".join(wrong[:20])


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    logs = tmp_path_factory.mktemp("logs")
    subprocess.run([SONDE, "demo", str(logs)], check=True, capture_output=True)
    folder = logs / "train/plugins/profile/bound"
    folder.mkdir(parents=True)
    (folder / "vm.xplane.pb").write_bytes(gzip.decompress((ROOT / "tests/data/profile/tf_loop_input_bound.xplane.pb.gz").read_bytes()))
    with running(logdir=logs) as s:
        while "partial" in json.loads(s.ask("/api/v1/tags").body):
            time.sleep(0.05)
        yield s


class Asker:
    """Asks, holds the answer against the contract, and gives it."""

    def __init__(self, server):
        self.server, self.asked = server, set()

    def __call__(self, method, path, body=None, expect=(200,), **query):
        address = f"/api/v1{path}" + (f"?{urlencode(query, doseq=True)}" if query else "")
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        reply = self.server.ask(address, method, JSON, data)
        kind = reply.headers.get("content-type", "")
        value = contract.value_of(kind, reply.body)
        assert not (wrong := contract.problems(method, path, reply.status, kind, value)), "\n".join(wrong[:10])
        assert reply.status in expect, (method, address, reply.body[:300])
        self.asked.add((method, contract.operation(method, path)[0]))
        return value


@pytest.fixture(scope="module")
def ask(server):
    return Asker(server)


@pytest.fixture(scope="module")
def tags(ask):
    runs = {run["id"]: run["name"] for run in ask("GET", "/runs")["runs"]}
    found = {}
    for tag in ask("GET", "/tags")["tags"]:
        found.setdefault(tag["kind"], (runs[tag["runs"][0][0]], tag["name"]))
    return found


def test_logs(ask, tags):
    ask("GET", "/info")
    ask("GET", "/diagnosis")
    ask("GET", "/layouts")
    ask("GET", "/sidecar")
    ask("PATCH", "/sidecar", {"runs": {"a": {"note": "x"}}, "mine": {"n": 1}})
    ask("POST", "/reload", {})
    ask("POST", "/table", {"columns": ["name", "start", "duration", "state", "tags", "metric:loss:last"], "limit": 5})
    ask("POST", "/hparams/table", {"rows": "groups"})
    ask("POST", "/hparams/table", {"rows": "sessions", "limit": 3})
    run, tag = tags["scalar"]
    series = [{"tag": tag, "runs": "all"}]
    ask("POST", "/columns", {"series": series, "smooth": {"kind": "ema", "p": 0.6}})
    ask("GET", "/columns/first", question="{}")
    ask("POST", "/nearest", {"series": series, "at": 3})
    ask("POST", "/outside", {"series": series, "low": 0, "high": 1})
    ask("GET", "/export", tag=tag, run=run)
    ask("POST", "/columns", {"series": "none"}, expect=(400,))


def test_media_and_text(ask, tags):
    for kind, path in (("image", "/media"), ("audio", "/media"), ("text", "/text"), ("mesh", "/mesh"), ("pr_curve", "/pr_curves")):
        if kind in tags:
            run, tag = tags[kind]
            answer = ask("GET", path, run=run, tag=tag)
            if path == "/media":
                ask("GET", path, run=run, tag=tag, steps=1)
                ask("GET", f"/blob/{answer['items'][-1]['samples'][0]['ref']}")
            if kind == "text":
                ask("GET", path, run=run, tag=tag, render="raw")
    if "histogram" in tags:
        run, tag = tags["histogram"]
        ask("POST", "/histograms", {"run": run, "tag": tag})


def test_data_of_a_run(ask):
    for table in ask("GET", "/tables")["tables"][:3]:
        rows = ask("POST", "/tables/rows", {"run": table["run"], "table": table["name"], "limit": 5})
        for row in rows["rows"][:1]:
            ask("GET", "/tables/row", run=table["run"], table=table["name"], row=row["row"])
    for console in ask("GET", "/consoles")["consoles"][:2]:
        ask("GET", "/console", run=console["run"], count=20)
        ask("GET", "/run", run=console["run"])
    ask("GET", "/alerts")


def test_profiles(ask):
    for session in [one["id"] for one in ask("GET", "/profile/sessions")]:
        ask("GET", "/profile/information", session=session)
        ask("GET", "/profile/progress", session=session)
        for tool in ask("GET", "/profile/tools", session=session)["tools"]:
            if tool["has_data"] and tool["id"] not in ("graph_viewer", "memory_viewer"):
                report = ask("GET", "/profile/report", session=session, tool=tool["id"])
                for table in report["tables"][:1]:
                    ask("POST", "/profile/rows", {"session": session, "tool": tool["id"], "table": table["id"], "limit": 3})
    ask("GET", "/profile/capture")


def test_traces(ask):
    session = "train/bound"
    info = ask("GET", "/trace/tracks", session=session, host=0)
    area = {"t0": info["t0"], "t1": info["t1"]}
    busy = [track["id"] for track in info["tracks"] if track["slices"]][:3]
    ask("GET", "/trace/names", session=session)
    ask("GET", "/trace/about", session=session)
    ask("GET", "/trace/steps", session=session)
    ask("GET", "/trace/schema", session=session)
    ask("GET", "/trace/slice", session=session, id=5)
    for what, body in {"view": {**area, "px": 100, "rows": [{"track": track} for track in busy]}, "search": {"q": "a", "limit": 5, "px": 10}, "stats": {**area, "limit": 5},
                       "flame": area, "flows": {**area, "limit": 5}, "counter_stats": area, "counters": {**area, "px": 10, "rows": []},
                       "sql": {"sql": "select * from slices limit 3"}}.items():
        ask("POST", f"/trace/{what}", body, session=session)
    ask("POST", "/trace/stats", {**area, "by": "track"}, session=session)
    ask("GET", "/trace/tracks", session="none", expect=(404,))


def test_graphs_and_embeddings(ask):
    for graph in ask("GET", "/graphs")[:2]:
        level = ask("GET", f"/graphs/{graph['id']}/level")
        ask("POST", f"/graphs/{graph['id']}/level", {"scope": "", "open": [level["nodes"][0]["name"]]})
        ask("GET", f"/graphs/{graph['id']}/outline")
        hits = ask("GET", f"/graphs/{graph['id']}/search", re=".")["hits"]
        ask("GET", f"/graphs/{graph['id']}/node", name=level["nodes"][0]["name"])
        ask("GET", f"/graphs/{graph['id']}/trace", name=next(hit["name"] for hit in hits if hit["kind"] == "op"))
    for one in ask("GET", "/embeddings")["embeddings"][:1]:
        ask("GET", f"/embeddings/{one['id']}")
        ask("GET", f"/embeddings/{one['id']}/neighbours", i=0, k=3)
        job = ask("POST", "/jobs", {"kind": "pca", "embedding": one["id"], "params": {"components": 2}}, expect=(200, 202))
        ask("GET", f"/jobs/{job['job']}")
        ask("GET", "/jobs")


def test_numerics(ask):
    for dump in [one["name"] for one in ask("GET", "/numerics")["dumps"]][:2]:
        ask("GET", "/numerics/summary", dump=dump)
        ask("GET", "/numerics/map", dump=dump)
        rows = ask("GET", "/numerics/traces", dump=dump, count=5)["rows"]
        ask("GET", "/numerics/executions", dump=dump, count=5)
        for row in rows[:1]:
            ask("GET", "/numerics/op", dump=dump, graph=row["graph"], op=row["op"])


def test_what_if(ask):
    for one in ask("GET", "/whatif")["sets"]:
        at = f"/whatif/{quote(one['id'])}"
        about = ask("GET", at)
        ask("GET", f"{at}/rows", i=[0, 1])
        ask("GET", f"{at}/features")
        ask("GET", f"{at}/columns", name=about["columns"][0]["name"])
        ask("POST", f"{at}/edited", {"copies": [0], "removed": [1]})
        models = [model["name"] for model in about["models"] if model["asked"] or not model["live"]]
        for model in models[:1]:
            for what, body in {"performance": {"model": model}, "worst": {"model": model}, "nearest": {"row": 0, "model": model}}.items():
                ask("POST", f"{at}/{what}", body)


def test_most_operations_were_asked(ask):
    """Against a test that quietly asks nothing; what a demo does not hold is in the recorded answers."""
    recorded = {(method, contract.operation(method, path)[0]) for _, method, path, status, *_ in RECORDED if status < 300 and contract.operation(method, path)}
    every = {(method.upper(), path) for path, item in contract.API["paths"].items() for method in item}
    assert len(ask.asked) > 55, sorted(ask.asked)
    missing = every - ask.asked - recorded
    assert len(missing) <= 22, sorted(missing)
