"""TensorFlow Serving over gRPC: Predict, Classify and Regress, answered by a real gRPC server with hand-written messages."""

import json
import struct
from concurrent import futures

import grpc
import pytest
from served import Served
from test_models import finished


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(number, content):
    if isinstance(content, float):
        return varint(number << 3 | 5) + struct.pack("<f", content)
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def fields(message):
    at, out = 0, []

    def number():
        nonlocal at
        value = shift = 0
        while True:
            value |= (message[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if message[at - 1] < 128:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 2:
            size = number()
            out.append((key >> 3, message[at : at + size]))
            at += size
        elif key & 7 == 5:
            out.append((key >> 3, struct.unpack("<f", message[at : at + 4])[0]))
            at += 4
        else:
            out.append((key >> 3, number()))
    return out


def x_of(example):
    """The feature x of a serialised tf.train.Example."""
    for _, entry in fields(dict(fields(example))[1]):
        pair = dict(fields(entry))
        if pair[1] == b"x":
            kind, values = fields(pair[2])[0]
            packed = dict(fields(values))[1]
            return struct.unpack("<f", packed[:4])[0] if kind == 2 else packed[0] if isinstance(packed, bytes) else packed
    raise AssertionError("there is no x")


asked = []


class Handler(grpc.GenericRpcHandler):
    def service(self, call):
        method = call.method.rsplit("/", 1)[1]

        def answer(request, _context):
            parts = fields(request)
            spec = dict(fields(parts[0][1]))
            asked.append((call.method, spec))
            if method == "Predict":
                entry = dict(fields(parts[1][1]))
                assert entry[1] == b"serialized"
                scores = [x_of(one) / 10 for number, one in fields(entry[2]) if number == 8]
                content = b"".join(struct.pack("<ff", 1 - s, s) for s in scores)
                shape = field(2, field(1, len(scores))) + field(2, field(1, 2))
                tensor = field(1, 1) + field(2, shape) + field(4, content)
                labels = field(1, 7) + b"".join(field(8, "yes") for _ in scores)
                return field(1, field(1, "classes") + field(2, labels)) + field(1, field(1, "probabilities") + field(2, tensor)) + field(2, parts[0][1])
            scores = [x_of(one) / 10 for _, one in fields(dict(fields(parts[1][1]))[1])]
            if method == "Regress":
                return field(1, b"".join(field(1, field(1, s) if s else b"") for s in scores))
            classes = [field(1, field(1, "0") + field(2, 1 - s)) + field(1, field(1, "1") + field(2, s)) for s in scores]
            return field(1, b"".join(field(1, one) for one in classes))

        return grpc.unary_unary_rpc_method_handler(answer)


@pytest.fixture(scope="module")
def address():
    server = grpc.server(futures.ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((Handler(),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"grpc://127.0.0.1:{port}"
    server.stop(None)


@pytest.mark.parametrize("path,method", [("/v1/models/m/versions/3:predict", "Predict"), ("/v1/models/m/labels/stable:classify", "Classify"), ("/v1/models/m:regress", "Regress")])
def test_serving_over_grpc(address, tmp_path, path, method):
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{i % 10},{int(i % 10 > 4)}\n" for i in range(200)))
    model = {"name": "live", "url": address + path, "tensor": "serialized", "signature": "serving"}
    (tmp_path / "whatif.json").write_text(json.dumps({"data": "d.csv", "label": "y", "models": [model]}))
    with Served("--logdir", str(tmp_path), "--whatif_endpoint", address, state=tmp_path / "s") as server:
        server.post("ask", {"model": "live"})
        assert "problem" not in finished(server, "live")
        rows = server.ask(f"whatif/{server.only_set()}/rows?i=7&i=2")[1]["rows"]
        assert [r["predictions"]["live"] for r in rows] == [[pytest.approx(0.7)], [pytest.approx(0.2)]]
        changed = server.post("predict", {"edits": [{"row": 0, "values": {"x": 9}}]})
        assert changed["rows"][0]["scores"] == [pytest.approx(0.9)]
    called, spec = asked[-1]
    assert called == f"/tensorflow.serving.PredictionService/{method}" and spec[1] == b"m" and spec[3] == b"serving"
    assert spec.get(2) == (field(1, 3) if "versions" in path else None) and spec.get(4) == (b"stable" if "labels" in path else None)


def test_a_grpc_endpoint_of_a_file_waits_for_a_click_and_keeps_to_the_policy(address, tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n1,0\n2,1\n")
    (tmp_path / "whatif.json").write_text(json.dumps({"data": "d.csv", "label": "y", "models": [
        {"name": "near", "url": address + "/v1/models/m:regress"}, {"name": "far", "url": "grpc://10.255.255.1:9/v1/models/m:regress"}]}))
    before = len(asked)
    with Served("--logdir", str(tmp_path), state=tmp_path / "s") as server:
        at = f"whatif/{server.only_set()}"
        assert server.ask(f"{at}/predict", {"model": "near", "edits": [{"row": 0}]})[0] == 403 and len(asked) == before
        for name in ("near", "far"):
            assert server.ask(f"{at}/models", {"allow": name})[0] == 204
        assert server.ask(f"{at}/predict", {"model": "near", "edits": [{"row": 0}]})[0] == 200
        status, answer = server.ask(f"{at}/predict", {"model": "far", "edits": [{"row": 0}]})
        assert status == 403 and "--allow_connect" in answer["error"]["text"], answer
        status, answer = server.ask(f"{at}/models", {"name": "n", "url": "grpc://127.0.0.1:9/nothing"})
        assert status == 400 and "/v1/models/NAME" in answer["error"]["text"]
