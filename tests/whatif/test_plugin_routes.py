"""The routes of TensorBoard's What-If plug-in (/data/plugin/whatif), asked as its page asks them."""

import base64
import http.server
import io
import json
import struct
import threading
import urllib.error
import urllib.parse
import urllib.request
import zlib
from typing import ClassVar

import pytest
from served import Served


def crc32c(data):
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    crc = 0xFFFFFFFF
    for b in data:
        crc = table[(crc ^ b) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def frame(payload):
    head = struct.pack("<Q", len(payload))
    return head + struct.pack("<I", crc32c(head)) + payload + struct.pack("<I", crc32c(payload))


def varint(n):
    out = b""
    n &= (1 << 64) - 1
    while n >= 128:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def message(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def feature(value):
    if isinstance(value, bytes):
        return message(1, message(1, value))
    if isinstance(value, float):
        return message(2, message(1, struct.pack("<f", value)))
    return message(3, message(1, varint(value)))


def features(values):
    return b"".join(message(1, message(1, name.encode()) + message(2, feature(v))) for name, v in values.items())


def png(colour):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes(colour) * 4 for _ in range(4))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Serving(http.server.BaseHTTPRequestHandler):
    """TensorFlow Serving's REST: score = age / 100."""

    asked: ClassVar[list] = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        Serving.asked.append((self.path, body))
        if self.path.endswith(":classify"):
            answer = {"results": [[["0", 1 - e["age"] / 100], ["1", e["age"] / 100]] for e in body["examples"]]}
        elif self.path.endswith(":regress"):
            answer = {"results": [e["age"] * 2.0 for e in body["examples"]]}
        else:
            answer = {"predictions": [{"scores": [0.25, 0.75], "other": [0]} for _ in body["instances"]]}
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def endpoint():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Serving)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()


PEOPLE = [{"age": 20, "job": b"cook", "w": 0.5, "image/encoded": png((255, 0, 0))}, {"age": 60, "job": b"cook", "w": 1.5, "image/encoded": png((0, 255, 0))},
          {"age": 40, "job": b"nurse", "w": 2.5, "image/encoded": png((0, 0, 255))}]


@pytest.fixture
def plugin(tmp_path):
    (tmp_path / "people.tfrecord").write_bytes(b"".join(frame(message(1, features(p))) for p in PEOPLE))
    (tmp_path / "vocab.txt").write_text("no\nyes\n")
    with Served("--logdir", str(tmp_path), state=tmp_path / "s") as server:

        def ask(route, form=None, headers=None, raw=False, **query):
            url = f"{server.url}/data/plugin/whatif/{route}?{urllib.parse.urlencode(query)}"
            data = None if form is None else urllib.parse.urlencode(form).encode()
            try:
                with urllib.request.urlopen(urllib.request.Request(url, data=data, headers=headers or {}), timeout=30) as answer:
                    content = answer.read()
                    return answer.status, content if raw else json.loads(content)
            except urllib.error.HTTPError as problem:
                return problem.code, json.loads(problem.read())

        ask.url = server.url
        yield ask


def load(ask, **more):
    status, answer = ask("examples_from_path", examples_path="people.tfrecord", max_examples=100, sampling_odds=1, sequence_examples="false", **more)
    assert status == 200, answer
    return answer


def models(endpoint, **more):
    return {"inference_address": endpoint, "model_name": "m", "model_type": "classification", "model_version": "", "model_signature": "", **more}


def test_examples_are_the_messages_as_protobufs_json(plugin):
    answer = load(plugin)
    assert answer["next"] == -1 and answer["sprite"] is True
    first = json.loads(answer["examples"][0])["features"]["feature"]
    assert first["age"] == {"int64List": {"value": ["20"]}}
    assert first["w"] == {"floatList": {"value": [0.5]}}
    assert base64.b64decode(first["job"]["bytesList"]["value"][0]) == b"cook"


def test_infer_asks_only_about_what_changed(plugin, endpoint):
    load(plugin)
    status, answer = plugin("infer", **models(endpoint, label_vocab_path="vocab.txt", model_version="3", model_signature="serving"))
    assert status == 200, answer
    said = json.loads(answer["inferences"])
    assert said["indices"] == [0, 1, 2] and json.loads(answer["vocab"]) == ["no", "yes"]
    classes = said["results"][0]["classificationResult"]["classifications"][1]["classes"]
    assert classes == [{"label": "0", "score": pytest.approx(0.4)}, {"label": "1", "score": pytest.approx(0.6)}]
    path, body = Serving.asked[-1]
    assert path == "/v1/models/m/versions/3:classify" and body["signature_name"] == "serving"
    assert json.loads(plugin("infer", **models(endpoint))[1]["inferences"])["indices"] == []
    edited = json.loads(load(plugin)["examples"][1])
    plugin("infer", **models(endpoint))
    edited["features"]["feature"]["age"]["int64List"]["value"] = ["99"]
    assert plugin("update_example", form={"index": 1, "example": json.dumps(edited)}) == (200, {})
    said = json.loads(plugin("infer", **models(endpoint))[1]["inferences"])
    assert said["indices"] == [1]
    assert said["results"][0]["classificationResult"]["classifications"][0]["classes"][1]["score"] == pytest.approx(0.99)


def test_regression_and_predict(plugin, endpoint):
    load(plugin)
    said = json.loads(plugin("infer", **models(endpoint, model_type="regression"))[1]["inferences"])
    assert said["results"][0]["regressionResult"]["regressions"] == [{"value": 40.0}, {"value": 120.0}, {"value": 80.0}]
    load(plugin)
    said = json.loads(plugin("infer", **models(endpoint, use_predict="true", predict_input_tensor="inputs", predict_output_tensor="scores"))[1]["inferences"])
    assert [c["score"] for c in said["results"][0]["classificationResult"]["classifications"][0]["classes"]] == [0.25, 0.75]
    sent = base64.b64decode(Serving.asked[-1][1]["instances"][0]["inputs"]["b64"])
    assert b"cook" in sent and b"age" in sent


def test_duplicate_and_delete(plugin, endpoint):
    load(plugin)
    plugin("infer", **models(endpoint))
    assert plugin("duplicate_example", index=0) == (200, {})
    assert plugin("delete_example", index=1) == (200, {})
    said = json.loads(plugin("infer", **models(endpoint))[1]["inferences"])
    assert said["indices"] == [2]
    assert plugin("delete_example", index=9) == (400, {"error": "invalid index provided"})
    assert plugin("update_example")[0] == 405


def test_partial_dependence(plugin, endpoint):
    load(plugin)
    _, names = plugin("eligible_features")
    assert [n["name"] for n in names] == ["age", "job", "w"]
    assert names[0] == {"name": "age", "observedMin": 20, "observedMax": 60} and names[1] == {"name": "job", "samples": ["cook"]}
    _, chart = plugin("infer_mutants", **models(endpoint, feature_name="age", example_index=-1, x_min="10", x_max="28"))
    assert chart["chartType"] == "numeric"
    line = chart["data"][0][0]["1"]
    assert list(chart["data"][0][0]) == ["1"]  # the label 0 of two is dropped
    assert [p["step"] for p in line] == list(range(10, 29, 2)) and [p["scalar"] for p in line] == pytest.approx([s / 100 for s in range(10, 29, 2)])
    _, chart = plugin("infer_mutants", **models(endpoint, feature_name="job", example_index=2))
    assert chart == {"chartType": "categorical", "data": [[{"1": [{"step": "cook", "scalar": pytest.approx(0.4)}]}]]}
    _, names = plugin("sort_eligible_features", **models(endpoint, example_index=0))
    assert names[0]["name"] == "age" and names[0]["interestingness"] == pytest.approx(0.4) and names[1]["interestingness"] == 0


def test_sprite(plugin):
    load(plugin)
    _, content = plugin("sprite", raw=True)
    assert struct.unpack(">II", content[16:24]) == (64, 64)  # two thumbnails of 32 a row
    assert io.BytesIO(content).read(8) == b"\x89PNG\r\n\x1a\n"


def test_sequence_examples_and_pages(plugin, tmp_path):
    steps = message(1, message(1, b"words") + message(2, message(1, feature(b"a")) + message(1, feature(b"b"))))
    (tmp_path / "seq.tfrecord").write_bytes(frame(message(1, features({"id": 7})) + message(2, steps)))
    _, answer = plugin("examples_from_path", examples_path="seq.tfrecord", max_examples=10, sampling_odds=1, sequence_examples="true")
    one = json.loads(answer["examples"][0])
    assert one["context"]["feature"]["id"] == {"int64List": {"value": ["7"]}}
    assert [base64.b64decode(f["bytesList"]["value"][0]) for f in one["featureLists"]["featureList"]["words"]["feature"]] == [b"a", b"b"]
    assert plugin("update_example", form={"index": 0, "example": answer["examples"][0]}) == (200, {})
    (tmp_path / "many.csv").write_text("x\n" + "1\n" * 10_001)
    _, answer = plugin("examples_from_path", examples_path="many.csv", max_examples=20_000, sampling_odds=1)
    assert len(answer["examples"]) == 10_000 and answer["next"] == 10_000
    _, answer = plugin("examples_from_path", start_example=10_000)
    assert len(answer["examples"]) == 1 and answer["next"] == -1


def test_refused(plugin, endpoint, tmp_path):
    status, answer = plugin("examples_from_path", examples_path="/etc/passwd", max_examples=10, sampling_odds=1)
    assert status == 403 and "--whatif_data" in answer["error"]
    load(plugin)
    before = len(Serving.asked)
    for route in ("infer", "duplicate_example", "delete_example", "infer_mutants"):
        status, _ = plugin(route, headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, index=0, **models(endpoint))
        assert status == 403, route
    status, answer = plugin("infer", **models("169.254.169.254:80"))
    assert status == 403 and "--allow_connect" in answer["error"]
    assert len(Serving.asked) == before
    status, answer = plugin("infer", **models(f"{endpoint},{endpoint}"))
    assert status == 400 and answer["error"] == "Every model should have a name and address."
    assert plugin("update_example", form={"index": 0, "example": '{"features": {"feature": {"age": {"int64List": {"value": ["x"]}}}}}'})[0] == 400
