"""Clients that are slow on purpose or many: they are given up on, and everybody else is served meanwhile. Takes half a minute."""

import contextlib
import os
import resource
import select
import socket
import threading
import time

import pytest
from server import request, running, until


@pytest.fixture(scope="module")
def server():
    with running() as s:
        yield s


def metric(server, name):
    return next(float(line.split()[1]) for line in server.ask("/metrics").text.splitlines() if line.startswith(name + " "))


def closed(connection):
    connection.settimeout(40)
    with contextlib.suppress(ConnectionError):
        while connection.recv(65536):
            pass
    return True


def test_slowloris_is_closed_and_blocks_nobody(server):
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(contextlib.closing(server.connect())) for _ in range(200)]
        for connection in slow:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-")
        stop = threading.Event()

        def drip():
            while not stop.wait(0.5):
                for connection in slow:
                    with contextlib.suppress(OSError):
                        connection.send(b"a")
        dripper = threading.Thread(target=drip)
        dripper.start()
        for _ in range(20):
            assert server.ask("/healthz").status == 200
        until(lambda: metric(server, "sonde_http_timeouts_total") >= len(slow), 40)
        stop.set()
        dripper.join()
        assert all(closed(connection) for connection in slow)
    until(lambda: metric(server, "sonde_http_connections") < 10, 40)


def test_a_slow_body_is_given_up_on(server):
    before = metric(server, "sonde_http_timeouts_total")
    with contextlib.closing(server.connect()) as connection:
        connection.sendall(b"POST /data/plugin/timeseries/timeSeries HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nab")
        assert closed(connection)
    assert metric(server, "sonde_http_timeouts_total") == before + 1


def test_many_idle_connections_leave_room(server):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(10_000, hard - 500)
    before = server.rss_mb()
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(contextlib.closing(server.connect()))
        until(lambda: metric(server, "sonde_http_connections") >= count)
        start = time.monotonic()
        for _ in range(50):
            assert server.ask("/healthz").status == 200
        print(f"{count} idle: {server.rss_mb() - before:.0f} MB more, {(time.monotonic() - start) * 20:.1f} ms a request")
        assert server.rss_mb() - before < 150


def test_few_descriptors_are_enough():
    """With room for a handful of connections the idle ones make way for new ones."""
    with running() as server:
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (80, 80))
        with contextlib.ExitStack() as stack:
            for _ in range(200):
                connection = stack.enter_context(contextlib.closing(socket.socket()))
                connection.settimeout(20)
                connection.connect(("127.0.0.1", server.port))
            for _ in range(5):
                assert server.ask("/healthz").status == 200


def test_a_client_that_does_not_read_holds_nothing_for_long(server):
    held = server.rss_mb()
    with contextlib.ExitStack() as stack:
        for _ in range(50):
            connection = stack.enter_context(contextlib.closing(server.connect()))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            with contextlib.suppress(OSError):
                connection.sendall(request("/metrics") * 2000)
        assert server.ask("/healthz").status == 200
        assert server.rss_mb() < held + 100
    assert os.path.exists(f"/proc/{server.process.pid}")


def test_a_query_ends_when_its_client_goes(tmp_path):
    """An endless query may take a minute; nobody waits for it any more after a second or two."""
    folder = tmp_path / "train/plugins/profile/s1"
    folder.mkdir(parents=True)
    (folder / "host0.trace.json").write_text('[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]')
    body = b'{"sql":"with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n","timeout_ms":60000}'
    with running(logdir=tmp_path) as server:
        refused = 'sonde_http_requests_total{code="4xx"}'
        before = metric(server, refused)
        with contextlib.closing(server.connect()) as connection:
            connection.sendall(request("/api/v1/trace/sql?session=train%2Fs1", "POST", body=body))
            busy = metric(server, "process_cpu_seconds_total")
            until(lambda: metric(server, "process_cpu_seconds_total") > busy + 0.3)
            assert metric(server, refused) == before
        until(lambda: metric(server, refused) > before, 30)


def test_bodies_in_memory_have_an_end(server):
    """1 GiB over all connections: what is above is asked to come back, and is served when there is room again."""
    piece, head = bytes(1 << 20), request("/api/v1/table", "POST", {"Sonde-Request": "1", "Content-Length": str(32 << 20)})
    answers = []
    with contextlib.ExitStack() as stack:
        for _ in range(40):  # 33 fit
            connection = stack.enter_context(contextlib.closing(server.connect()))
            with contextlib.suppress(ConnectionError):
                connection.sendall(head)
                for _ in range(31):
                    connection.sendall(piece)
            if select.select([connection], [], [], 0)[0]:
                with contextlib.suppress(ConnectionError):
                    answers.append(connection.recv(4096))
        assert answers and any(b" 503 " in one for one in answers), answers
        assert metric(server, "sonde_http_held_bytes") <= (1 << 30) + (2 << 20)
    until(lambda: server.ask("/api/v1/table", "POST", {"Sonde-Request": "1"}, b"{}").status == 200, 40)
