"""Models behind endpoints, files outside, hostile data: what What-If asks, and what it refuses."""

import http.server
import json
import struct
import threading
import time
from typing import ClassVar

import pytest
from served import Served


class StandIn(http.server.BaseHTTPRequestHandler):
    """Speaks TensorFlow Serving's and KServe's REST; the model says x/10 for the feature x."""

    asked: ClassVar[list] = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        StandIn.asked.append((self.path, dict(self.headers), body))
        if self.path.startswith("/v2/models/"):
            given = body["inputs"][0]
            rows, width = given["shape"]
            scores = [float(given["data"][i * width]) / 10 for i in range(rows)]
            answer = {"outputs": [{"name": "scores", "datatype": "FP32", "shape": [rows, 2], "data": [v for s in scores for v in (1 - s, s)]}]}
        elif self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.end_headers()
            return
        else:
            answer = {"predictions": [[1 - one["x"] / 10, one["x"] / 10] for one in body["instances"]]}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def endpoint():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("x,group,y\n" + "".join(f"{i % 10},{'ab'[i % 2]},{int(i % 10 > 4)}\n" for i in range(200)))
    return path


def finished(server, name):
    for _ in range(200):
        _status, answer = server.ask(f"whatif/{server.only_set()}")
        model = next(m for m in answer["models"] if m["name"] == name)
        if not model["asking"]:
            return model
        time.sleep(0.05)
    raise AssertionError("the model is still being asked")


@pytest.mark.parametrize("protocol,path", [("tfserving", "/v1/models/m:predict"), ("kserve", "/v2/models/m/infer")])
def test_a_live_model(endpoint, data, tmp_path, protocol, path):
    with Served("whatif", "--data", str(data), "--label", "y", "--endpoint", endpoint + path, "--protocol", protocol, state=tmp_path / "s") as server:
        server.post("ask", {"model": "live"})
        model = finished(server, "live")
        assert model.get("task") == "binary", model
        assert server.post("performance", {})["all"]["auc"][0] == 1
        changed = server.post("predict", {"edits": [{"row": 0, "values": {"x": 7}}, {"row": 1, "values": {"x": 2.5}}]})
        assert [r["scores"] for r in changed["rows"]] == [[pytest.approx(0.7)], [pytest.approx(0.25)]]
        lines = server.post("dependence", {"features": ["x"] if protocol == "kserve" else ["x", "group"], "row": -1})["features"]
        assert lines[0]["name"] == "x"
        assert lines[0]["means"][0] == pytest.approx([v / 10 for v in range(10)])
        ranged = server.post("dependence", {"features": ["x"], "row": 3, "low": 2, "high": 4})["features"][0]
        assert ranged["values"] == [2, 3, 4] and ranged["means"][0] == pytest.approx([0.2, 0.3, 0.4])
        if protocol == "tfserving":
            assert lines[1]["interest"] == pytest.approx(0)
            pair = server.post("pair", {"features": ["x", "group"], "row": -1, "examples": 20})
            assert pair["x"]["values"] == list(range(10)) and sorted(pair["y"]["values"]) == ["a", "b"]
            for line in pair["means"][0]:
                assert line == pytest.approx([v / 10 for v in range(10)])
            status, answer = server.ask(f"whatif/{server.only_set()}/pair", {"features": ["x", "x"]})
            assert status == 400 and "two features" in answer["error"]["text"]


def test_an_endpoint_named_by_a_file_waits_for_a_click(endpoint, data, tmp_path):
    before = len(StandIn.asked)
    (tmp_path / "whatif.json").write_text(json.dumps({"data": "d.csv", "label": "y", "models": [{"name": "m", "url": endpoint + "/v1/models/m:predict"}]}))
    with Served("--logdir", str(tmp_path), state=tmp_path / "s") as server:
        at = f"whatif/{server.only_set()}"
        assert server.ask(at)[1]["models"][0]["needs_consent"]
        for what, body in (("ask", {"model": "m"}), ("predict", {"model": "m", "edits": [{"row": 0}]}), ("dependence", {"model": "m", "features": ["x"]})):
            assert server.ask(f"{at}/{what}", body)[0] == 403, what
        assert len(StandIn.asked) == before
        assert server.ask(f"{at}/models", {"allow": "m"}, write=False)[0] == 403  # a foreign page cannot click
        assert server.ask(f"{at}/models", {"allow": "m"})[0] == 204
        assert server.ask(f"{at}/ask", {"model": "m"})[0] == 202
        assert finished(server, "m")["task"] == "binary"


def test_a_server_open_to_the_network_takes_no_endpoint_from_the_page(endpoint, data, tmp_path):
    (tmp_path / "whatif.json").write_text(json.dumps({"data": "d.csv", "models": [{"name": "m", "url": endpoint + "/v1/models/m:predict"}]}))
    before = len(StandIn.asked)
    with Served("--logdir", str(tmp_path), "--host", "0.0.0.0", "--auth", "none", state=tmp_path / "s") as server:
        server.url = server.url.replace("0.0.0.0", "127.0.0.1")
        at = f"whatif/{server.only_set()}/models"
        assert server.ask(at, {"allow": "m"})[0] == 403
        status, answer = server.ask(at, {"name": "n", "url": endpoint})
        assert status == 403 and "--whatif_endpoint" in answer["error"]["text"]
    assert len(StandIn.asked) == before


@pytest.mark.parametrize("address", ["169.254.169.254", "10.255.255.1", "[fe80::1]", "0.0.0.0"])
def test_the_page_reaches_no_private_address_unless_the_command_line_allows_it(address, data, tmp_path):
    url = f"http://{address}:9/v1/models/m:predict"
    (tmp_path / "whatif.json").write_text(json.dumps({"data": "d.csv", "models": [{"name": "named", "url": url}]}))
    with Served("--logdir", str(tmp_path), state=tmp_path / "s") as server:
        at = f"whatif/{server.only_set()}"
        assert server.ask(f"{at}/models", {"allow": "named"})[0] == 204
        assert server.ask(f"{at}/models", {"name": "typed", "url": url})[0] == 204
        for model in ("named", "typed"):
            status, answer = server.ask(f"{at}/predict", {"model": model, "edits": [{"row": 0}]})
            words = "not the address of one machine" if address == "0.0.0.0" else "--allow_connect"
            assert status == 403 and words in answer["error"]["text"], answer


def test_redirects_are_not_followed(endpoint, data, tmp_path):
    with Served("whatif", "--data", str(data), "--label", "y", "--endpoint", endpoint + "/moved", state=tmp_path / "s") as server:
        status, answer = server.ask(f"whatif/{server.only_set()}/predict", {"edits": [{"row": 0}]})
        assert status == 400 and "answered 302" in answer["error"]["text"]


@pytest.mark.parametrize("name,content,words", [
    ("ragged.csv", b"a,b\n1,2\n3\n", "row 3 has 1 cells, the header has 2"),
    ("nul.csv", b"a,b\n1,\0\n", "NUL"),
    ("quote.csv", b'a,b\n1,"2\n', "never closed"),
    ("wide.csv", b"," * 100_000 + b"\n1\n", "more than 10000 cells"),
    ("cut.json", b'[{"a": 1}, {"a"', "cut off"),
    ("text.parquet", b"PAR1" + b"x" * 50, "cut off"),
    ("lying.parquet", b"PAR1" + b"\xff" * 40 + b"\xff\xff\xff\x7fPAR1", "larger than the file"),
    ("feather.arrow", b"ARROW1" + b"x" * 50, "Python"),
    ("zip.npz", b"PK\x03\x04" + b"x" * 50, "zip"),
    ("record.tfrecord", struct.pack("<Q", 1 << 62) + b"\0" * 20, ""),
    ("ten_million_columns.csv", b"c," * 10_000_000 + b"c\n1\n", "more than 10000 cells"),
    ("ten_million_columns.json", b"[{" + b",".join(b'"%d":1' % i for i in range(200_000)) + b"}]", "more than 10000 features"),
    ("huge_cell.csv", b"a,b\n1," + b"x" * (17 << 20) + b"\n", "at most 16777216"),
    ("header.csv", b"a,b\n", "not a single example"),
    ("nothing.csv", b"", "empty"),
])
def test_hostile_files_are_refused_with_a_sentence(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "whatif.json").write_text(json.dumps({"data": name}))
    with Served("--logdir", str(tmp_path), state=tmp_path / "s") as server:
        status, answer = server.ask(f"whatif/{server.only_set()}")
        assert status >= 400 and words in answer["error"]["text"], answer


def test_files_outside_the_log_directory(tmp_path):
    logs, other = tmp_path / "logs", tmp_path / "other"
    logs.mkdir(), other.mkdir()
    (other / "d.csv").write_text("a\n1\n")
    (logs / "link.csv").symlink_to(other / "d.csv")
    for path in (str(other / "d.csv"), "../other/d.csv", "link.csv"):
        (logs / "whatif.json").write_text(json.dumps({"data": path}))
        with Served("--logdir", str(logs), state=tmp_path / "s") as server:
            status, answer = server.ask(f"whatif/{server.only_set()}")
            assert status == 403 and "--whatif_data" in answer["error"]["text"]
    with Served("--logdir", str(logs), "--whatif_data", str(other), state=tmp_path / "s") as server:
        assert server.ask(f"whatif/{server.only_set()}")[0] == 200


def test_exported_edits_disarm_formulas(tmp_path):
    (tmp_path / "d.csv").write_text("a,b\n1,x\n2,y\n")
    (tmp_path / "whatif.json").write_text(json.dumps({"data": "d.csv"}))
    with Served("--logdir", str(tmp_path), state=tmp_path / "s") as server:
        content = server.post("export", {"edits": [{"row": 1, "values": {"b": "=cmd()"}}]})
        assert content == b"a,b\r\n2,\"'=cmd()\"\r\n"


def test_labels_of_a_vocabulary(tmp_path):
    (tmp_path / "d.csv").write_text("a,b,c,y\n" + "".join(f"{0.8 if i % 3 == 0 else 0.1},{0.8 if i % 3 == 1 else 0.1},{0.8 if i % 3 == 2 else 0.1},{['cat', 'dog', 'cow'][i % 3]}\n" for i in range(9)))
    (tmp_path / "labels.txt").write_text("cat\r\ndog\ncow\n")
    config = {"data": "d.csv", "label": "y", "models": [{"name": "m", "columns": ["a", "b", "c"], "vocabulary": "labels.txt"}]}
    (tmp_path / "whatif.json").write_text(json.dumps(config))
    with Served("--logdir", str(tmp_path), state=tmp_path / "s") as server:
        got = server.post("performance", {})
        assert got["label_names"] == ["cat", "dog", "cow"] and got["all"]["accuracy"][0] == 1
    config["models"][0]["vocabulary"] = "../outside.txt"
    (tmp_path.parent / "outside.txt").write_text("x\n")
    (tmp_path / "whatif.json").write_text(json.dumps(config))
    with Served("--logdir", str(tmp_path), state=tmp_path / "s") as server:
        assert "--whatif_data" in server.ask(f"whatif/{server.only_set()}")[1]["models"][0]["problem"]


class Slow(http.server.BaseHTTPRequestHandler):
    """Answers when it is told to; counts how many wait."""

    gate: ClassVar[threading.Event]
    waiting: ClassVar[list] = []

    def do_POST(self):
        rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["instances"]
        if rows[0]["x"] > 0:  # the first batch goes through
            Slow.waiting.append(len(rows))
            Slow.gate.wait(30)
        data = json.dumps({"predictions": [one["x"] / 1000 for one in rows]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def slow():
    Slow.gate, Slow.waiting = threading.Event(), []
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1/models/m:predict"
    Slow.gate.set()
    server.shutdown()


def until(look):
    for _ in range(400):
        if look():
            return
        time.sleep(0.05)
    raise AssertionError("it never came true")


def test_four_requests_are_in_flight_and_answers_keep_their_order(slow, tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(1000)))
    with Served("whatif", "--data", str(tmp_path / "d.csv"), "--label", "y", "--endpoint", slow, state=tmp_path / "s") as server:
        server.post("ask", {"model": "live"})
        until(lambda: len(Slow.waiting) == 4)
        Slow.gate.set()
        assert finished(server, "live")["asked"] == 1000
        rows = server.ask(f"whatif/{server.only_set()}/rows?i=0&i=500&i=999")[1]["rows"]
        assert [r["predictions"]["live"] for r in rows] == [[0], [0.5], [0.999]]


def test_asking_can_be_stopped(slow, tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(5000)))
    with Served("whatif", "--data", str(tmp_path / "d.csv"), "--label", "y", "--endpoint", slow, state=tmp_path / "s") as server:
        server.post("ask", {"model": "live"})
        until(lambda: len(Slow.waiting) == 4)
        server.post("ask", {"model": "live", "stop": True})
        Slow.gate.set()
        model = finished(server, "live")
        assert "task" not in model and model["asked"] < 5000 and len(Slow.waiting) == 4
