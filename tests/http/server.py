"""Starts the program for a test and talks to it over raw sockets, so that nothing is tidied up on the way."""

import contextlib
import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build/release/sonde"))
LINE = re.compile(r"TensorBoard \S+ at (\S+) \(Press CTRL\+C to quit\)")


class Server:
    def __init__(self, *args, logdir=None, env=None):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.logdir = str(logdir or self.folder)
        self.env = {**os.environ, "TMPDIR": self.temporary.name, **(env or {})}
        command = [SONDE, "--logdir", self.logdir, *([] if "--unix_socket" in args else ["--port", "0"]), *args]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=self.env)
        self.log = []
        for line in self.process.stderr:
            self.log.append(line)
            if found := LINE.search(line):
                self.url = found[1]
                break
        else:
            raise RuntimeError("sonde did not start: " + "".join(self.log))
        port = re.search(r":(\d+)/", self.url)
        self.port = int(port[1]) if port else 0

    def stop(self, with_signal=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        code = self.process.wait(timeout=20)
        self.log += self.process.stderr.readlines()
        self.process.stderr.close()
        self.temporary.cleanup()
        return code

    def connect(self, tls=None):
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        return tls.wrap_socket(plain, server_hostname="localhost") if tls else plain

    def rss_mb(self):
        return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text())[1]) / 1024

    def ask(self, target="/", method="GET", headers=(), body=b"", host=None, tls=None):
        with contextlib.closing(self.connect(tls)) as connection:
            return exchange(connection, request(target, method, headers, body, host or f"localhost:{self.port}"))


@contextlib.contextmanager
def running(*args, **options):
    server = Server(*args, **options)
    try:
        yield server
    finally:
        code = server.stop()
        assert code == 0, "".join(server.log)


def request(target="/", method="GET", headers=(), body=b"", host="localhost"):
    lines = [f"{method} {target} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in dict(headers).items()]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode()


def read_reply(stream, method="GET"):
    """One answer from a socket's file; None when the connection was closed instead."""
    first = stream.readline()
    if not first:
        return None
    status = int(first.split()[1])
    headers = {}
    while (line := stream.readline()) not in (b"\r\n", b""):
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    if method == "HEAD" or status in (204, 304) or status < 200:
        return Reply(status, headers, b"")
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(stream.readline(), 16):
            body += stream.read(size)
            stream.readline()
        stream.readline()
        return Reply(status, headers, body)
    if "content-length" in headers:
        return Reply(status, headers, stream.read(int(headers["content-length"])))
    return Reply(status, headers, stream.read())


def exchange(connection, raw):
    method = raw.split(b" ", 1)[0].decode("latin-1")
    connection.sendall(raw)
    return read_reply(connection.makefile("rb"), method)


def until(condition, limit=20):
    """Waits for something that happens soon; fails when it does not."""
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.01)


def client_tls():
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
