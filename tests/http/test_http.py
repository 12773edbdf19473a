"""The door from outside: requests in every shape, limits, security headers, tokens, TLS, sockets."""

import contextlib
import gzip
import html
import json
import os
import random
import re
import shutil
import socket
import stat
import subprocess

import pytest
from server import client_tls, exchange, read_reply, request, running, until


@pytest.fixture(scope="module")
def server():
    with running() as s:
        yield s


def test_page_and_its_headers(server):
    page = server.ask("/")
    assert page.status == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.body.lower().startswith(b"<!doctype html>")
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy and "unsafe" not in policy and "frame-ancestors" in policy
    assert page.headers["x-content-type-options"] == "nosniff"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "server" not in page.headers and "access-control-allow-origin" not in page.headers
    again = server.ask("/", headers={"If-None-Match": page.headers["etag"]})
    assert again.status == 304 and again.body == b""
    head = server.ask("/", method="HEAD")
    assert head.status == 200 and head.headers["content-length"] == page.headers["content-length"]
    assert server.ask("/index.html").body == page.body


def test_the_page_brings_the_answers_it_begins_with(server):
    page = server.ask("/").text
    for path in ("info", "runs", "tags", "sidecar"):
        found = re.search(rf'<script type="application/json" data-answer="api/v1/{path}"([^>]*)>([^<]*)</script>', page)
        if found is None and "built without the page" in page:
            pytest.skip("the program was built without its page")
        answer = server.ask(f"/api/v1/{path}")
        assert json.loads(found[2]) == json.loads(answer.body)
        assert html.unescape(found[1]) == f' data-etag="{answer.headers["etag"]}"'


def test_health_and_metrics(server):
    assert server.ask("/healthz").text == "ok\n"
    text = server.ask("/metrics").text
    assert "sonde_http_requests_total{code=\"2xx\"}" in text
    assert "process_resident_memory_bytes" in text
    for line in text.splitlines():
        assert line.startswith("#") or (len(line.rsplit(" ", 1)) == 2 and float(line.rsplit(" ", 1)[1]) >= 0)


def test_keep_alive_and_pipelining(server):
    with contextlib.closing(server.connect()) as connection:
        stream = connection.makefile("rb")
        connection.sendall(request("/healthz") + request("/nothing") + request("/healthz", "HEAD") + request("/healthz"))
        assert [read_reply(stream).status, read_reply(stream).status] == [200, 404]
        assert read_reply(stream, "HEAD").status == 200
        assert read_reply(stream).text == "ok\n"
        for _ in range(50):
            connection.sendall(request("/healthz"))
            assert read_reply(stream).status == 200


def test_request_cut_at_every_byte(server):
    raw = request("/nothing?a=b", "POST", {"Content-Type": "text/plain"}, b"hello")
    for cut in range(1, len(raw)):
        with contextlib.closing(server.connect()) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(raw[:cut])
            connection.sendall(raw[cut:])
            assert read_reply(connection.makefile("rb")).status == 404


@pytest.mark.parametrize("raw, status", [
    (b"GET / HTTP/1.1\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400),
    (b"NONSENSE\r\n\r\n", 400),
    (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    (b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 40_000 + b"\r\n", 431),
    (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    (b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    (b"GET /%00%ff HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
    (b"DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 405),
    (b"GET / HTTP/1.0\r\n\r\n", 200),
])
def test_odd_requests_have_their_status(server, raw, status):
    with contextlib.closing(server.connect()) as connection:
        # The server may answer and stop reading before everything is sent.
        with contextlib.suppress(ConnectionError):
            connection.sendall(raw)
        assert read_reply(connection.makefile("rb")).status == status


def test_huge_bodies_are_refused_without_being_kept(server):
    before = server.rss_mb()
    for headers in ("Content-Length: 100000000000", "Transfer-Encoding: chunked"):
        with contextlib.closing(server.connect()) as connection:
            connection.sendall(f"POST /data/plugin/timeseries/timeSeries HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n".encode())
            with contextlib.suppress(ConnectionError):
                for _ in range(400):  # 40 MB in chunks
                    connection.sendall(b"186a0\r\n" + b"a" * 100_000 + b"\r\n")
            with contextlib.suppress(ConnectionError):
                assert read_reply(connection.makefile("rb")).status in (404, 413)
    assert server.ask("/healthz").status == 200
    assert server.rss_mb() < before + 80


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example:6006"}])
def test_foreign_host_names_are_refused(server, headers):
    reply = server.ask("/data/runs", host=headers["Host"])
    assert reply.status == 403 and "--allow_host" in reply.text
    assert server.ask("/", host=headers["Host"]).status == 403


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
])
def test_requests_of_other_sites_are_refused(server, headers):
    assert server.ask("/data/runs", headers=headers).status == 403
    assert server.ask("/data/plugin/timeseries/timeSeries", "POST", headers, b"requests=[]").status == 403


def test_a_link_from_another_site_opens_the_page(server):
    assert server.ask("/", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}).status == 200


@pytest.mark.parametrize("path", [
    "/../../../../etc/passwd", "/..%2f..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/assets/../../etc/passwd",
    "/proc/self/environ", "/assets/%00", "/" + "../" * 50 + "etc/passwd",
])
def test_paths_lead_nowhere_else(server, path):
    assert server.ask(path).status == 404


def test_random_bytes_do_no_harm(server):
    dice = random.Random(7)
    for _ in range(300):
        with contextlib.closing(server.connect()) as connection, contextlib.suppress(ConnectionError):
            connection.sendall(dice.randbytes(dice.randrange(1, 3000)))
            if dice.random() < 0.5:
                connection.shutdown(socket.SHUT_WR)
                connection.recv(100)
    good = request("/healthz", headers={"A": "b"})
    for _ in range(500):  # a valid request with a few bytes changed
        raw = bytearray(good)
        for _ in range(dice.randrange(1, 4)):
            raw[dice.randrange(len(raw))] = dice.randrange(256)
        with contextlib.closing(server.connect()) as connection, contextlib.suppress(ConnectionError):
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(4096):
                pass
    assert server.ask("/healthz").status == 200


def test_expect_continue(server):
    with contextlib.closing(server.connect()) as connection:
        stream = connection.makefile("rb")
        connection.sendall(b"POST /data/plugin/timeseries/timeSeries HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
                           b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 11\r\n\r\n")
        first = read_reply(stream)
        if first.status == 100:
            connection.sendall(b"requests=[]")
            assert read_reply(stream).status == 200
        else:
            assert first.status == 404


def test_idle_connections_cost_little_and_block_nobody(server):
    import resource
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(int(os.environ.get("SONDE_IDLE_CONNECTIONS", "2000")), hard - 500)
    before = server.rss_mb()
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(contextlib.closing(server.connect())) for _ in range(count)]
        until(lambda: f"sonde_http_connections {count}" in server.ask("/metrics").text
              or int(next(x for x in server.ask("/metrics").text.splitlines() if x.startswith("sonde_http_connections ")).split()[1]) >= count)
        assert server.ask("/healthz").status == 200
        assert (server.rss_mb() - before) * 1024 / count < 16, "kB a connection"
        for connection in (connections[0], connections[count // 2], connections[-1]):
            assert exchange(connection, request("/healthz")).status == 200


def test_path_prefix_and_experiment():
    with running("--path_prefix", "/foo/bar/") as server:
        assert server.url.endswith("/foo/bar/")
        assert server.ask("/foo/bar/").status == 200
        assert server.ask("/").status == 404 and server.ask("/foo/barx").status == 404
        moved = server.ask("/foo/bar")
        assert (moved.status, moved.headers["location"]) == (301, "/foo/bar/")
        moved = server.ask("/foo/bar/experiment/e1")
        assert (moved.status, moved.headers["location"]) == (301, "/foo/bar/experiment/e1/")
        assert server.ask("/foo/bar/experiment/e1/").status == 200


def test_token():
    with running("--auth", "token") as server:
        _address, token = server.url.split("?token=")
        assert len(token) == 32
        browser = {"Accept": "text/html"}
        denied = server.ask("/", headers=browser)
        assert denied.status == 401 and "<form" in denied.text and token not in denied.text
        assert server.ask("/data/runs").status == 401
        assert server.ask("/metrics").status == 401
        assert server.ask("/healthz").status == 200
        assert server.ask("/api/v1/info").headers["content-type"] == "application/json"
        assert server.ask("/nothing", headers={"Authorization": f"Bearer {token}"}).status == 404
        assert server.ask(f"/nothing?token={token}").status == 404
        assert server.ask(f"/?token={token[:-1]}x", headers=browser).status == 401
        login = server.ask(f"/?a=1&token={token}", headers=browser)
        assert (login.status, login.headers["location"]) == (303, "./?a=1")
        cookie = login.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
        assert server.ask("/", headers={"Cookie": cookie.split(";")[0], **browser}).status == 200
        assert server.ask("/nothing", headers={"Cookie": cookie.split(";")[0]}).status == 404
        linked = server.ask(f"/?token={token}", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", **browser})
        assert linked.status == 200 and "refresh" in linked.text and "set-cookie" in linked.headers
    assert not any(token in line for line in server.log if "TensorBoard" not in line)


def test_token_file(tmp_path):
    file = tmp_path / "token"
    with running("--auth_token_file", str(file)) as server:
        token = file.read_text().strip()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert server.url.endswith("?token=" + token)
    with running("--auth_token_file", str(file)) as server:
        assert server.url.endswith("?token=" + token)


def test_open_to_the_network_means_a_token():
    with running("--host", "0.0.0.0") as server:
        assert "?token=" in server.url
        assert server.ask("/data/runs", host="any.example").status == 401


def test_tls(tmp_path):
    if not shutil.which("openssl"):
        pytest.skip("no openssl to make a certificate")
    key, cert = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", key, "-out", cert], check=True, capture_output=True)
    with running("--certfile", cert, "--keyfile", key) as server:
        assert server.url.startswith("https://")
        context = client_tls()
        assert server.ask("/healthz", tls=context).text == "ok\n"
        assert server.ask("/", tls=context).status == 200
        with contextlib.closing(server.connect(context)) as connection:
            assert connection.version() in ("TLSv1.2", "TLSv1.3")
            for _ in range(3):
                assert exchange(connection, request("/healthz")).status == 200
        with contextlib.closing(server.connect()) as connection, contextlib.suppress(ConnectionError):
            connection.sendall(request("/healthz"))  # plain text to the TLS port: closed
            assert b"200" not in connection.recv(1000)
        assert server.ask("/healthz", tls=context).status == 200


def test_unix_socket(tmp_path):
    path = str(tmp_path / "s")
    with running("--unix_socket", path) as server:
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as connection:
            connection.connect(path)
            assert exchange(connection, request("/healthz", host="anything")).text == "ok\n"
        assert server.port == 0
    assert not os.path.exists(path)


def test_compression_when_asked_for():
    with running("--compression", "always") as server:
        plain = server.ask("/metrics")
        packed = server.ask("/metrics", headers={"Accept-Encoding": "gzip"})
        assert packed.headers["content-encoding"] == "gzip" and len(packed.body) < len(plain.body)
        assert gzip.decompress(packed.body).startswith(plain.body[:200])
    with running() as server:
        assert "content-encoding" not in server.ask("/metrics", headers={"Accept-Encoding": "gzip"}).headers
