"""A set made out of another by edits; attributions, from a file and from a model, and distances between them."""

import http.server
import json
import struct
import threading
import time
from typing import ClassVar

import numpy as np
import pytest
from served import Served


class Ranked(http.server.BaseHTTPRequestHandler):
    """A model of three labels that names them best first, as a classifier of TensorFlow Serving may, and says why."""

    asked: ClassVar[list] = []

    def do_POST(self):
        instances = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["instances"]
        Ranked.asked.append(len(instances))
        predictions = [[list(pair) for pair in sorted(scores(one).items(), key=lambda pair: -pair[1])] for one in instances]
        answer = {"predictions": predictions, "attributions": [{"x": one["x"] / 10, "z": one.get("z", 0)} for one in instances]}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def scores(one):
    x, z = one["x"], one.get("z", 0)
    raw = np.exp([x / 5, 1 - x / 20 + z, 0.5])
    return dict(zip(("low", "middle", "high"), (raw / raw.sum()).tolist()))


@pytest.fixture(scope="module")
def endpoint():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ranked)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1/models/m:predict"
    server.shutdown()


@pytest.fixture
def live(endpoint, tmp_path):
    rows = "".join(f"{i},{['low', 'middle', 'high'][i % 3]}\n" for i in range(300))
    (tmp_path / "d.csv").write_text("x,y\n" + rows)
    with Served("whatif", "--data", str(tmp_path / "d.csv"), "--label", "y", "--endpoint", endpoint, state=tmp_path / "s") as server:
        server.post("ask", {"model": "live"})
        for _ in range(400):
            model = server.ask(f"whatif/{server.only_set()}")[1]["models"][0]
            if not model["asking"]:
                break
            time.sleep(0.05)
        assert "problem" not in model, model
        assert sorted(model["labels"]) == ["high", "low", "middle"] and model["attributions"] == ["x", "z"]
        yield server, model["labels"]


def said(server, at, row, labels):
    return dict(zip(labels, server.ask(f"{at}/rows?i={row}")[1]["rows"][0]["predictions"]["live"]))


def columns(server, at, *names, **more):
    """Columns of numbers from the binary answer."""
    query = "&".join([*(f"name={n}" for n in names), *(f"{k}={v}" for k, v in more.items())])
    status, body = server.ask(f"{at}/columns?{query}")
    assert status == 200, body
    assert body[:4] == b"SND1"
    (length,) = struct.unpack_from("<I", body, 4)
    head = json.loads(body[8 : 8 + length])
    kinds = {"f64": "<f8", "u32": "<u4"}
    places = [head["cols"][f"c{i}"] for i in range(len(head["columns"]))]
    values = [np.frombuffer(body, kinds[p["t"]], p["n"], 8 + length + p["o"]) for p in places]
    return {one["name"]: column for one, column in zip(head["columns"], values)}


def test_labels_in_another_order_for_every_example_keep_their_scores(live):
    server, labels = live
    at = f"whatif/{server.only_set()}"
    for row in (0, 1, 2, 20, 150, 299):
        wanted = scores({"x": row})
        assert said(server, at, row, labels) == pytest.approx(wanted)


def test_an_edited_set_asks_only_about_what_changed(live):
    server, labels = live
    origin = server.only_set()
    before = len(Ranked.asked)
    body = {
        "edits": [{"row": 3, "values": {"x": 250}}, {"row": 4, "values": {"z": 2.5}}, {"row": 6, "values": {"x": None}}],
        "copies": [3, 5],
        "removed": [0, 6],
        "features": ["z"],
    }
    status, made = server.ask(f"whatif/{origin}/edited", body)
    assert status == 200, made
    assert made["rows"] == 300 and made["first_copy"] == 298
    assert Ranked.asked[before:] == [3], "rows 3 and 4, and the copy of 3"
    at = f"whatif/{made['id']}"
    columns_now = {c["name"]: c for c in server.ask(at)[1]["columns"]}
    assert columns_now["z"]["feature"] and columns_now["z"]["kind"] == "numeric"
    for row, wanted in ((2, {"x": 250}), (3, {"x": 4, "z": 2.5}), (298, {"x": 250}), (299, {"x": 5}), (0, {"x": 1})):
        values = server.ask(f"{at}/rows?i={row}")[1]["rows"][0]
        assert values["values"] == [wanted["x"], values["values"][1], wanted.get("z")], row
        assert said(server, at, row, labels) == pytest.approx(scores(wanted))
        assert values["attributions"]["live"]["x"] == pytest.approx(wanted["x"] / 10)
    # The original is as it was, and nobody else's list names the edited set.
    assert server.ask(f"whatif/{origin}")[1]["rows"] == 300
    assert said(server, f"whatif/{origin}", 3, labels) == pytest.approx(scores({"x": 3}))
    assert [s["id"] for s in server.ask("whatif")[1]["sets"]] == [origin]
    assert [s["id"] for s in server.ask(f"whatif?with={made['id']}")[1]["sets"]] == [origin, made["id"]]
    again = server.ask(f"{at}/edited", {"removed": [1]})[1]
    assert again["rows"] == 299 and len(Ranked.asked) == before + 1


def test_what_a_table_said_about_an_edited_example_is_unknown(tmp_path):
    (tmp_path / "d.csv").write_text("x,y,score\n" + "".join(f"{i},{i % 2},{i / 40}\n" for i in range(40)))
    with Served("whatif", "--data", str(tmp_path / "d.csv"), "--label", "y", "--predictions", "score", state=tmp_path / "s") as server:
        at = f"whatif/{server.only_set()}"
        made = server.ask(f"{at}/edited", {"edits": [{"row": 1, "values": {"x": 7}}], "copies": [2]})[1]
        got = columns(server, f"whatif/{made['id']}", "x", "%24score")
        assert np.isnan(got["$score"][1]) and got["x"][1] == 7
        assert got["$score"][40] == 2 / 40 and got["$score"][3] == 3 / 40
        assert server.ask(f"whatif/{made['id']}/performance", {})[1]["all"]["sweep"]["tp"][0] == 19
        for body, words in (
            ({"edits": [{"row": 99, "values": {}}]}, "no example 99"),
            ({"edits": [{"row": 1}]}, "'values'"),
            ({"edits": [{"row": 1, "values": {"nope": 1}}]}, "no feature 'nope'"),
            ({"features": ["x"]}, "a feature 'x' already"),
            ({"removed": list(range(40))}, "must stay"),
            ({"copies": [40]}, "'copies'"),
            ({"copies": [-1]}, "'copies'"),
        ):
            status, answer = server.ask(f"{at}/edited", body)
            assert status >= 400 and words in answer["error"]["text"], (body, answer)
        assert server.ask(f"{at}/edited", {}, write=False)[0] == 403


@pytest.fixture(scope="module")
def explained(tmp_path_factory):
    """Attributions in a file of their own, in another order, joined by a key."""
    folder = tmp_path_factory.mktemp("explained")
    random = np.random.default_rng(5)
    n = 300
    x, group, label = random.normal(0, 1, n).round(3), random.choice(["a", "b"], n), random.integers(0, 2, n)
    why = {"x": random.normal(0, 2, n).round(4), "group": random.normal(1, 0.5, n).round(4)}
    score = random.random(n).round(3)
    (folder / "d.csv").write_text("id,x,group,y,score\n" + "".join(f"e{i},{x[i]},{group[i]},{label[i]},{score[i]}\n" for i in range(n)))
    (folder / "shap.csv").write_text("group,id,x\n" + "".join(f"{why['group'][i]},e{i},{why['x'][i]}\n" for i in random.permutation(n)))
    model = {"name": "m", "columns": ["score"], "attributions": "shap.csv", "key": "id"}
    (folder / "whatif.json").write_text(json.dumps({"data": "d.csv", "label": "y", "ignore": ["id"], "models": [model]}))
    with Served("--logdir", str(folder), state=folder / "state") as server:
        yield server, why, group


def test_distances_between_attributions(explained):
    server, why, _group = explained
    at = f"whatif/{server.only_set()}"
    assert server.ask(at)[1]["models"][0]["attributions"] == ["group", "x"]
    scaled = np.array([abs(v - v[7]) / v.std() for v in why.values()])
    got = columns(server, at, "%24attribution:x", "%24distance:7:l1:attributions", "%24distance:7:l2:attributions", model="m")
    assert np.allclose(got["$attribution:x"], why["x"])
    assert np.allclose(got["$distance:7:l1:attributions"], scaled.sum(0))
    assert np.allclose(got["$distance:7:l2:attributions"], np.sqrt((scaled**2).sum(0)))
    near = server.post("nearest", {"row": 7, "by": "attributions", "model": "m", "k": 5})["nearest"]
    assert [one["row"] for one in near] == [int(i) for i in np.argsort(scaled.sum(0), kind="stable")[1:6]]
    status, answer = server.ask(f"{at}/nearest", {"row": 7, "by": "wishes"})
    assert status == 400 and "features or attributions" in answer["error"]["text"]


def test_mean_attributions_of_slices(explained):
    server, why, group = explained
    found = server.post("performance", {"slices": ["group"]})
    for line in found["attributions"]:
        values = why[line["feature"]]
        assert line["all"] == pytest.approx(values.mean())
        for part, mean in zip(found["slices"], line["slices"]):
            assert mean == pytest.approx(values[group == part["name"]].mean())
