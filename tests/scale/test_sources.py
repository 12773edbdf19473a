"""Log directories behind other doors than S3: web servers, WebHDFS, Azure, Google. Answers equal the disk's, requests are counted."""

import functools
import http.server
import json
import os
import random
import re
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

import pytest

from event_files import event_file
from sonde_server import Server
from test_s3 import SECRET, Faulty, client, environment, sonde, store, upload  # noqa: F401 (fixtures)

BLOCK = 1 << 20


class Door(http.server.ThreadingHTTPServer):
    """A server over a folder that counts what it is asked; one in `fail_every` is refused for now, each answer takes `delay` seconds."""

    daemon_threads = True

    def __init__(self, handler, folder):
        self.folder, self.counts, self.seen, self.delay, self.errors = folder, {}, [], 0, None
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]


class Speaker(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        with self.server.lock:
            self.server.counts[self.command] = self.server.counts.get(self.command, 0) + 1
            self.server.seen.append((self.command, self.path, dict(self.headers)))
            fails = self.server.errors and self.server.errors.random() < 0.01
        time.sleep(self.server.delay)
        if fails:
            return self.say(503, b"")
        parts = urllib.parse.urlsplit(self.path)
        self.answer(urllib.parse.unquote(parts.path), dict(urllib.parse.parse_qsl(parts.query)))

    do_HEAD = do_GET

    def say(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def say_file(self, path, **headers):
        """The range that was asked for."""
        body = path.read_bytes()
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        headers["ETag"] = f'"{path.stat().st_mtime_ns:x}-{len(body):x}"'
        if not wanted:
            return self.say(200, body, **headers)
        begin, end = int(wanted[1]), min(int(wanted[2]), len(body) - 1)
        if begin >= len(body):
            return self.say(416, b"", **headers)
        self.say(206, body[begin:end + 1], Content_Range=f"bytes {begin}-{end}/{len(body)}", **headers)

    def log_message(self, *_):
        pass


class WebPages(Speaker):
    """As nginx does it."""

    def answer(self, path, query):
        place = self.server.folder / path.strip("/")
        if self.headers.get("Authorization", "") != getattr(self.server, "authorization", ""):
            return self.say(401, b"")
        if place.is_dir():
            names = sorted(entry.name + "/" * entry.is_dir() for entry in place.iterdir())
            links = "".join(f'<a href="{urllib.parse.quote(name)}">{escape(name)}</a> 18-Nov-2026 08:00 1\n' for name in names)
            page = f'<html><a href="../">../</a><a href="?C=N">Name</a><a href="http://elsewhere/events.out.tfevents.1">x</a>{links}</html>'
            return self.say(200, page.encode(), Content_Type="text/html")
        if not place.is_file():
            return self.say(404, b"")
        self.say_file(place)


class NameNode(Speaker):
    """WebHDFS: a file's bytes come from another address."""

    def answer(self, path, query):
        if path.startswith("/data/"):
            body = (self.server.folder / path.removeprefix("/data/")).read_bytes()
            begin = int(query["offset"])
            return self.say(200, body[begin:begin + int(query["length"])])
        place = self.server.folder / path.removeprefix("/webhdfs/v1").strip("/")
        if not place.exists():
            return self.say(404, json.dumps({"RemoteException": {"exception": "FileNotFoundException", "message": f"File {path} does not exist."}}).encode())

        def status(entry, name):
            return {"pathSuffix": name, "type": "DIRECTORY" if entry.is_dir() else "FILE", "length": entry.stat().st_size,
                    "modificationTime": entry.stat().st_mtime_ns // 10**6, "fileId": entry.stat().st_ino}

        if query["op"] == "LISTSTATUS":
            entries = [status(entry, entry.name) for entry in sorted(place.iterdir())] if place.is_dir() else [status(place, "")]
            return self.say(200, json.dumps({"FileStatuses": {"FileStatus": entries}}).encode())
        if query["op"] == "GETFILESTATUS":
            return self.say(200, json.dumps({"FileStatus": status(place, "")}).encode())
        more = urllib.parse.urlencode({name: query[name] for name in ("offset", "length")})
        self.say(307, b"", Location=f"http://127.0.0.1:{self.server.port}/data/{urllib.parse.quote(str(place.relative_to(self.server.folder)))}?{more}")


class Blobs(Speaker):
    """Azure's list and read, two blobs a page."""

    def answer(self, path, query):
        if query.get("sig") != SECRET:
            return self.say(403, b"", x_ms_error_code="AuthenticationFailed")
        name = path.strip("/").partition("/")[2]
        if query.get("comp") != "list":
            place = self.server.folder / name
            return self.say_file(place) if place.is_file() else self.say(404, b"", x_ms_error_code="BlobNotFound")
        files = sorted(str(p.relative_to(self.server.folder)) for p in self.server.folder.rglob("*") if p.is_file())
        files = [name for name in files if name.startswith(query["prefix"]) and name > query.get("marker", "")]
        blobs = ""
        for name in files[:2]:
            stat = (self.server.folder / name).stat()
            blobs += (f"<Blob><Name>{escape(name)}</Name><Properties><Last-Modified>Wed, 18 Nov 2026 08:00:00 GMT</Last-Modified>"
                      f"<Etag>{stat.st_mtime_ns:x}-{stat.st_size:x}</Etag><Content-Length>{stat.st_size}</Content-Length></Properties></Blob>")
        marker = escape(files[1]) if len(files) > 2 else ""
        self.say(200, f"<EnumerationResults><Blobs>{blobs}</Blobs><NextMarker>{marker}</NextMarker></EnumerationResults>".encode())


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    for run, points in (("a", 20), ("b c/d&e", 30), ("b c/ü", 7)):
        (folder / "team" / run).mkdir(parents=True)
        (folder / "team" / run / "events.out.tfevents.1").write_bytes(event_file(points))
    (folder / "team/large").mkdir()
    (folder / "team/large/events.out.tfevents.1").write_bytes(event_file(60_000))
    (folder / "team/notes.txt").write_text("not an event file")
    return folder


DOORS = {
    "http": (WebPages, lambda port: f"http://127.0.0.1:{port}/team", {}),
    "hdfs": (NameNode, lambda port: f"webhdfs://127.0.0.1:{port}/team", {"HADOOP_USER_NAME": "me"}),
    "azure": (Blobs, lambda port: "az://box/team", {"AZURE_STORAGE_SAS_TOKEN": f"?sv=2021&sig={SECRET}"}),
}


def opened(kind, logs, cache):
    handler, address, env = DOORS[kind]
    door = Door(handler, logs)
    if kind == "azure":
        env = env | {"AZURE_STORAGE_ENDPOINT": f"http://127.0.0.1:{door.port}"}
    return door, address(door.port), os.environ | env | {"SONDE_CACHE_DIR": str(cache)}


def all_answers(server):
    runs = server.json("/data/runs")
    return runs, [server.get("/data/plugin/scalars/scalars?" + urllib.parse.urlencode({"run": run, "tag": "loss"})) for run in runs]


@pytest.mark.parametrize("kind", DOORS)
@pytest.mark.parametrize("is_bad", [False, True], ids=["", "30 ms and 1 % errors"])
def test_answers_equal_the_disks(kind, is_bad, logs, tmp_path):
    door, address, env = opened(kind, logs, tmp_path / "cache")
    if is_bad:
        door.delay, door.errors = 0.03, random.Random(7)
    with Server(logs / "team") as disk, Server(address, env, "--reload_interval", "0") as remote:
        assert all_answers(remote) == all_answers(disk)
        assert remote.metric("sonde_remote_requests_total") == sum(door.counts.values()) - (redirects(door) if kind == "hdfs" else 0)
    assert SECRET not in remote.said
    door.shutdown()


def redirects(door):
    return sum(path.startswith("/data/") for _, path, _ in door.seen)


@pytest.mark.parametrize("kind", DOORS)
def test_requests_of_a_start_are_those_of_the_formula(kind, logs, tmp_path):
    door, address, env = opened(kind, logs, tmp_path / "cache")
    files = list((logs / "team").rglob("*tfevents*"))
    folders = 1 + sum(p.is_dir() for p in (logs / "team").rglob("*"))
    blocks = sum(-(-p.stat().st_size // BLOCK) for p in files)
    listing = {"http": folders + len(files), "hdfs": folders, "azure": -(-5 // 2)}[kind]
    for start in range(2):
        door.counts.clear()
        door.seen.clear()
        with Server(address, env, "--reload_interval", "0") as server:
            all_answers(server)
            made = sum(door.counts.values()) - redirects(door)
            assert 1 + listing <= made <= 1 + listing + (blocks if start == 0 else 0)
    door.shutdown()


def test_a_file_that_grows_and_one_that_comes_are_seen_over_http(tmp_path):
    (tmp_path / "logs/a").mkdir(parents=True)
    (tmp_path / "logs/a/events.out.tfevents.1").write_bytes(event_file(3))
    door = Door(WebPages, tmp_path / "logs")
    env = os.environ | {"SONDE_CACHE_DIR": str(tmp_path / "cache")}
    with Server(f"http://127.0.0.1:{door.port}/", env, "--reload_interval", "0.1") as server:
        assert [len(json.loads(body)) for body in all_answers(server)[1]] == [3]
        (tmp_path / "logs/a/events.out.tfevents.1").write_bytes(event_file(8))
        (tmp_path / "logs/b").mkdir()
        (tmp_path / "logs/b/events.out.tfevents.1").write_bytes(event_file(2))
        deadline = time.monotonic() + 30
        while server.json("/data/runs") != ["a", "b"] or len(json.loads(all_answers(server)[1][0])) != 8:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    door.shutdown()


def test_a_web_server_without_ranges(logs, tmp_path):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    plain = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(logs)))
    threading.Thread(target=plain.serve_forever, daemon=True).start()
    env = os.environ | {"SONDE_CACHE_DIR": str(tmp_path / "cache")}
    with Server(logs / "team") as disk, Server(f"http://127.0.0.1:{plain.server_address[1]}/team", env) as remote:
        assert all_answers(remote) == all_answers(disk)
    plain.shutdown()


def test_a_password_is_sent_and_never_shown(logs, tmp_path):
    door = Door(WebPages, logs)
    door.authorization = "Bearer " + SECRET
    address, env = f"http://127.0.0.1:{door.port}/team", os.environ | {"SONDE_CACHE_DIR": str(tmp_path / "cache")}
    code, said = sonde("inspect", address, env=env)
    assert code == 1 and "SONDE_HTTP_AUTHORIZATION" in said
    code, said = sonde("inspect", address, env=env | {"SONDE_HTTP_AUTHORIZATION": "Bearer " + SECRET})
    assert code == 0 and SECRET not in said
    code, said = sonde("inspect", f"http://me:{SECRET}@127.0.0.1:{door.port}/team", env=env)
    assert code == 2 and SECRET not in said
    door.shutdown()


def test_googles_store_is_asked_as_s3_is(store, client, logs, tmp_path):  # noqa: F811
    upload(client, logs / "team", "google")
    env = environment(store, tmp_path / "cache") | {"SONDE_GCS_ENDPOINT": store}
    del env["AWS_ENDPOINT_URL"]
    with Server(logs / "team") as disk, Server("gs://logs/google", env) as remote:
        assert all_answers(remote) == all_answers(disk)


def test_s3_with_latency_and_errors(store, client, logs, tmp_path):  # noqa: F811
    upload(client, logs / "team", "slow_team")
    relay = Faulty(store)
    relay.delay, relay.errors = 0.03, random.Random(3)
    with Server(logs / "team") as disk, Server("s3://logs/slow_team", environment(relay.url, tmp_path / "cache")) as remote:
        assert all_answers(remote) == all_answers(disk)
    relay.shutdown()


@pytest.mark.parametrize("place, said", [("az://", "az://CONTAINER/PREFIX"), ("az://box/x", "AZURE_STORAGE_ACCOUNT"), ("webhdfs:///x", "hdfs://NAMENODE/PATH"),
                                         ("http:///x", "http://HOST/PATH"), ("ftp://host/x", "is not supported")])
def test_an_address_that_names_nothing_is_said(place, said):
    env = {name: value for name, value in os.environ.items() if not name.startswith("AZURE")}
    code, text = sonde("inspect", place, env=env)
    assert code != 0 and said in text
