"""The limits of docs/limits.md that a client meets, one below, at and one above each."""

import contextlib
import json
import socket

import pytest
from server import exchange, read_reply, request, running

WRITE = {"Sonde-Request": "1"}
BODY, UPLOAD = 32 << 20, 1 << 30


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(logdir=tmp_path_factory.mktemp("logs")) as started:
        yield started


def test_info_tells_the_limits_that_are_kept(server):
    limits = json.loads(server.ask("/api/v1/info").body)["limits"]
    assert limits["body_bytes"] == BODY and limits["upload_bytes"] == UPLOAD


@pytest.mark.parametrize("more, status", [(-1, 200), (0, 200), (1, 413)])
def test_a_body(server, more, status):
    body = b"{}".ljust(BODY + more)
    reply = server.ask("/api/v1/table", "POST", WRITE, body)
    assert reply.status == status, reply.text[:300]


@pytest.mark.parametrize("more, status", [(-1, 100), (0, 100), (1, 413)])
@pytest.mark.parametrize("route", ["/api/v1/trace?name=x.json", "/api/v1/graphs", "/api/v1/embeddings"])
def test_an_upload_is_accepted_or_refused_by_its_length(server, route, more, status):
    """The server says 100 Continue to what it will take; nothing of the gigabyte is sent."""
    headers = {**WRITE, "Content-Length": str(UPLOAD + more), "Expect": "100-continue"}
    with contextlib.closing(server.connect()) as connection:
        reply = exchange(connection, request(route, "POST", headers, host=f"localhost:{server.port}"))
        assert reply.status == status


def test_a_trace_larger_than_a_body_is_taken_as_upload(server):
    events = [{"ph": "X", "name": "n" * 50, "ts": i, "dur": 1, "pid": 1, "tid": 1} for i in range(370_000)]
    content = json.dumps({"traceEvents": events}).encode()
    assert len(content) > BODY
    reply = server.ask("/api/v1/trace?name=large.json", "POST", WRITE, content)
    assert reply.status == 200, reply.text[:300]
    tracks = json.loads(server.ask("/api/v1/trace/tracks?session=dropped%2Flarge.json").body)
    assert tracks["slices"] == 370_000


@pytest.mark.parametrize("more, status", [(-1, 200), (0, 200), (1, 414)])
def test_an_address(server, more, status):
    start = "/api/v1/info?x="
    target = start + "a" * ((96 << 10) - len(start) + more)
    assert server.ask(target).status == status


@pytest.mark.parametrize("sizes, status", [((60,), 200), ((66,), 431), ((60, 60), 200), ((60, 60, 12), 431)])
def test_headers(server, sizes, status):
    """128 KiB together, 64 KiB each; too many end with an answer, and the server lives."""
    headers = {f"X-Long-{i}": "a" * (size << 10) for i, size in enumerate(sizes)}
    assert server.ask("/api/v1/info", headers=headers).status == status
    assert server.ask("/api/v1/info").status == 200


def test_an_upload_that_breaks_off_leaves_nothing(server):
    """The file of an upload has no name: a listing of the folder never shows it, and it goes with the connection."""
    before = sorted(path.name for path in server.folder.iterdir())
    with contextlib.closing(server.connect()) as connection:
        connection.sendall(request("/api/v1/trace", "POST", {**WRITE, "Content-Length": str(8 << 20)}, host=f"localhost:{server.port}") + b"x" * (4 << 20))
        assert sorted(path.name for path in server.folder.iterdir()) == before
        connection.shutdown(socket.SHUT_WR)
        read_reply(connection.makefile("rb"))
    assert sorted(path.name for path in server.folder.iterdir()) == before
