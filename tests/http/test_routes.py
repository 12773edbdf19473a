"""Every route under wrong parameters: a clear 4xx or a good answer, never 500, and the server lives on."""

import contextlib
import json
import random
import re
import subprocess

import pytest
from server import ROOT, SONDE, exchange, read_reply, request, running, until

PATHS = sorted({path for file in (ROOT / "src/api").rglob("*.cc")
                for path in re.findall(r'\{\s*"(?:GET|POST|PATCH|DELETE|\*)",\s*"(/[^"]*)"', file.read_text())})
VALUES = ["", "a", "%", "%00", "%ff%fe", "..%2f..%2fetc%2fpasswd", "-1", "999999999999999999999", "1e999", "NaN", "%F0%9F%98%80", "[", "(a%2B)%2B$",
          "%7B%22a%22:%5B%5B%5B%5B%5D%5D%5D%5D%7D", "'%22%3Cscript%3E", "x" * 20_000]
NAMES = ["run", "tag", "sample", "blob_key", "name", "num_rows", "format", "markdown", "requests", "request", "step", "since", "from", "count", "limit",
         "px", "ref", "w", "session", "tool", "host", "after", "columnsVisibility", "index", "op_name", "batch", "imageId", "experimentalPlugin", "q", "re"]
BODIES = [b"", b"{", b"null", b"[]", b"{}", b'{"series":[{"tag":5,"runs":"x"}]}', b"requests=%5B%7B%7D%5D", b"requests=[1,2", b"\xff\xfe\x00",
          b"[" * 5000, b'{"a":' * 3000, b'{"px":-1,"range":[1e308,-1e308],"series":[]}', b"tag=a&runs=" + b"b" * 3000]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    logs = tmp_path_factory.mktemp("logs")
    subprocess.run([SONDE, "demo", str(logs)], check=True, capture_output=True)
    with running(logdir=logs) as s:
        yield s


def test_there_are_routes():
    assert len(PATHS) > 40


@pytest.mark.parametrize("path", PATHS)
def test_route_takes_anything(server, path):
    dice = random.Random(path)
    is_stream = path.endswith("/events")
    target = path.replace("/*", "/" + dice.choice(VALUES[1:5]))
    queries = [""] + [f"{dice.choice(NAMES)}={dice.choice(VALUES)}" for _ in range(12)]
    queries += ["&".join(f"{dice.choice(NAMES)}={dice.choice(VALUES)}" for _ in range(6)) for _ in range(12)]
    queries += ["run=a&run=b&tag=c&tag=d", "&&&=&=", "%", "run", "=".join(["a"] * 50)]
    with contextlib.closing(server.connect()) as connection:
        stream = connection.makefile("rb")
        for query in queries[:2] if is_stream else queries:
            for method, body in (("GET", b""), ("POST", dice.choice(BODIES)), ("HEAD", b"")):
                if is_stream and method == "GET":
                    continue
                kind = dice.choice(["application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"])
                connection.sendall(request(f"{target}?{query}", method, {"Content-Type": kind}, body))
                reply = read_reply(stream, method)
                assert reply is not None, (method, query, "the connection was closed")
                assert reply.status < 500, (method, query, body[:50], reply.status, reply.body[:200])
                if reply.headers.get("connection") == "close":
                    connection.close()
                    connection = server.connect()
                    stream = connection.makefile("rb")
        connection.close()
    assert exchange(server.connect(), request("/healthz")).status == 200


def test_events_arrive_and_the_client_may_leave(server):
    for _ in range(20):
        with contextlib.closing(server.connect()) as connection:
            connection.sendall(request("/api/v1/events"))
            stream = connection.makefile("rb")
            assert stream.readline().split()[1] == b"200"
            while b"event: hello" not in stream.readline():
                pass
    assert server.ask("/healthz").status == 200


def test_export_streams_in_chunks(server):
    reply = server.ask("/api/v1/export?format=csv")
    assert reply.status == 200 and reply.headers["transfer-encoding"] == "chunked"
    assert reply.text.startswith("run,tag,step")
    old = server.connect()
    old.sendall(b"GET /api/v1/export?format=csv HTTP/1.0\r\n\r\n")
    assert read_reply(old.makefile("rb")).body == reply.body
    old.close()


def test_unchanged_answers_are_not_sent_again(server):
    for path in ("/data/runs", "/data/plugin/scalars/tags", "/api/v1/runs"):
        first = server.ask(path)
        assert first.status == 200 and "etag" in first.headers
        assert server.ask(path, headers={"If-None-Match": first.headers["etag"]}).status == 304


def test_a_relative_log_directory_has_its_checkpoints(monkeypatch):
    monkeypatch.chdir(ROOT / "tests/data")
    with running(logdir="corpus/projector_images") as server:
        shapes = lambda: [one["shape"] for one in json.loads(server.ask("/api/v1/embeddings").body)["embeddings"]]
        until(lambda: shapes() == [[200, 8]])


def test_a_relative_log_directory_has_its_runs_in_the_projector(monkeypatch, tmp_path):
    for run in ("a", "b/c"):
        folder = tmp_path / "logs" / run
        folder.mkdir(parents=True)
        (folder / "events.out.tfevents.1.x").touch()
        (folder / "projector_config.pbtxt").write_text('embeddings { tensor_name: "t" tensor_path: "t.tsv" }')
        (folder / "t.tsv").write_text("1\t2\n3\t4\n")
    monkeypatch.chdir(tmp_path)
    with running(logdir="logs") as server:
        until(lambda: sorted(json.loads(server.ask("/data/plugin/projector/runs").body)) == ["a", "b/c"])


def test_a_metric_of_several_runs_of_a_trial_is_a_column_a_run():
    with running(logdir=ROOT / "tests/data/corpus/hparams_experiment_raw") as server:
        def table(**more):
            body = json.dumps({"rows": "sessions", **more}).encode()
            return json.loads(server.ask("/api/v1/hparams/table", "POST", {"Content-Type": "application/json"}, body).body)

        until(lambda: "metric:eval.acc:last" in [column["id"] for column in table()["columns"]])
        answer = table(columns=["name", "metric:acc:last", "metric:eval.acc:max"])
        names, own, below = answer["data"]
        first = names.index("trial_0")
        assert (round(own[first], 3), round(below[first], 3)) == (0.6, 0.5)


def test_requests_that_tensorboard_understands():
    """No tag is no mesh, a negative sample counts from the end, an empty list is an empty request."""
    with running(logdir=ROOT / "tests/data/corpus/mesh") as s:
        until(lambda: exchange(s.connect(), request("/data/runs")).body == b'["run"]')
        assert exchange(s.connect(), request("/data/plugin/mesh/meshes?run=run")).body == b"[]"

        def cloud(sample):
            return exchange(s.connect(), request(f"/data/plugin/mesh/data?run=run&tag=cloud&content_type=VERTEX&step=1&sample={sample}"))

        assert cloud(-1).body == cloud(1).body != cloud(0).body
        assert cloud(2).status == cloud(-3).status == 400
        empty = request("/data/plugin/hparams/experiment", "POST", {"Content-Type": "application/json"}, b"[]")
        assert exchange(s.connect(), empty).status == 200
