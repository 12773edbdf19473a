"""Log directories in an S3-compatible store (moto, or MinIO by minio.py) answer as those on disk do, with counted requests."""

import http.server
import json
import os
import random
import socket
import subprocess
import tarfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import boto3
import pytest
from moto.server import ThreadedMotoServer

from event_files import event_file
from sonde_server import DATA, PROGRAM, Server, questions

SECRET = "SeCrEtKeyThatMustNeverBeLogged"
BLOCK = 1 << 20


class Faulty(http.server.ThreadingHTTPServer):
    """Passes requests on to the store, counts them by method, and fails some of them on the way."""

    daemon_threads = True

    def __init__(self, target):
        self.target, self.counts, self.fail_every, self.seen, self.delay, self.errors, self.is_down, self.sent = target, {}, 0, 0, 0, None, False, 0
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), Relay)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Relay(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def relay(self):
        server = self.server
        with server.lock:
            server.seen += 1
            server.counts[self.command] = server.counts.get(self.command, 0) + 1
            is_nth = server.fail_every and server.seen % server.fail_every == 0
            fails = is_nth or (server.errors and server.errors.random() < 0.01)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with server.lock:
            server.sent += len(body)
        time.sleep(server.delay)
        if server.is_down:
            self.close_connection = True
            return
        if fails:
            self.answer(503, {}, b"<Error><Code>SlowDown</Code></Error>")
            return
        request = urllib.request.Request(server.target + self.path, body or None, headers=dict(self.headers), method=self.command)
        try:
            with urllib.request.urlopen(request) as answer:
                self.answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            self.answer(error.code, error.headers, error.read())

    def answer(self, status, headers, body):
        self.send_response(status)
        for name in ("ETag", "Last-Modified", "Content-Range", "Content-Type"):
            if name in headers:
                self.send_header(name, headers[name])
        self.send_header("Content-Length", headers.get("Content-Length", len(body)) if self.command == "HEAD" else len(body))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = relay

    def log_message(self, *_):
        pass


def minio(program, folder):
    """A real server; its address, and the process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([program, "server", "--address", f"127.0.0.1:{port}", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=os.environ | {"MINIO_ROOT_USER": "test", "MINIO_ROOT_PASSWORD": SECRET, "MINIO_BROWSER": "off"})
    deadline = time.monotonic() + 120
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/minio/health/ready", timeout=5).close()
            return f"http://127.0.0.1:{port}", process
        except OSError:
            assert time.monotonic() < deadline and process.poll() is None, "MinIO did not start"
            time.sleep(0.2)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    if program := os.environ.get("SONDE_TEST_MINIO"):
        address, process = minio(program, tmp_path_factory.mktemp("minio"))
        yield address
        process.terminate()
        process.wait(30)
        return
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(scope="module")
def client(store):
    client = boto3.client("s3", endpoint_url=store, aws_access_key_id="test", aws_secret_access_key=SECRET, region_name="us-east-1")
    client.create_bucket(Bucket="logs")
    return client


def upload(client, folder, prefix):
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        client.upload_file(str(path), "logs", f"{prefix}/{path.relative_to(folder)}")


def environment(endpoint, cache):
    return os.environ | {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": SECRET,
                         "AWS_REGION": "us-east-1", "SONDE_CACHE_DIR": str(cache)}


@pytest.mark.parametrize("name", sorted(path.name.removesuffix(".tar.gz") for path in DATA.glob("*.tar.gz")))
def test_a_bucket_answers_as_the_disk_does(name, store, client, tmp_path):
    with tarfile.open(DATA / f"{name}.tar.gz") as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / name
    upload(client, folder, name)
    asked = [path for path in questions(name) if path not in ("/", "/index.html")]  # the page has the name of its server in it
    assert len(asked) > 3
    with Server(folder) as disk, Server(f"s3://logs/{name}", environment(store, tmp_path / "cache")) as remote:
        for path in asked:
            assert remote.get(path) == disk.get(path), path
    assert SECRET not in remote.said


def test_requests_are_few_and_the_second_start_reads_from_the_cache(store, client, tmp_path):
    for i in range(30):
        client.put_object(Bucket="logs", Key=f"many/run{i:02}/events.out.tfevents.1", Body=event_file(20))
    relay = Faulty(store)
    for start in range(2):
        relay.counts.clear()
        with Server("s3://logs/many", environment(relay.url, tmp_path / "cache"), "--reload_interval", "0") as server:
            assert len(server.json("/data/runs")) == 30
            # One listing to see that the place is there, one to find the runs; a block each of 30 small files.
            assert relay.counts == {"GET": 2 + 30 if start == 0 else 2}
            assert server.metric("sonde_remote_requests_total") == sum(relay.counts.values())
            assert server.metric("sonde_remote_blocks_missed_total") == (30 if start == 0 else 0)
    relay.shutdown()


def test_errors_of_the_store_are_tried_again(store, client, tmp_path):
    relay = Faulty(store)
    relay.fail_every = 4
    with Server("s3://logs/many", environment(relay.url, tmp_path / "cache")) as server:
        assert len(server.json("/data/runs")) == 30
        assert len(server.json("/data/plugin/scalars/scalars?run=run07&tag=loss")) == 20
        assert server.metric("sonde_remote_retries_total") >= 8
    relay.shutdown()


def test_an_object_that_grows_and_one_that_comes_are_seen(store, client, tmp_path):
    put = lambda key, points: client.put_object(Bucket="logs", Key=f"live/{key}/events.out.tfevents.1", Body=event_file(points))
    put("a", 3)
    with Server("s3://logs/live", environment(store, tmp_path / "cache"), "--reload_interval", "0.2") as server:
        def count(run):
            try:
                return len(server.json(f"/data/plugin/scalars/scalars?run={run}&tag=loss"))
            except urllib.error.HTTPError:  # a run is listed before it is read
                return 0

        assert count("a") == 3
        put("a", 8)
        put("b", 2)
        deadline = time.monotonic() + 30
        while (count("a"), count("b")) != (8, 2):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert sorted(server.json("/data/runs")) == ["a", "b"]


def test_large_objects_are_read_in_ranges(store, client, tmp_path):
    body = event_file(120_000)
    assert len(body) > 5 * BLOCK
    client.put_object(Bucket="logs", Key="large/events.out.tfevents.1", Body=body)
    relay = Faulty(store)
    with Server("s3://logs/large", environment(relay.url, tmp_path / "cache"), "--reload_interval", "0") as server:
        assert server.json("/api/v1/runs")["runs"][0]["points"] == 120_000
        blocks = -(-len(body) // BLOCK)
        assert server.metric("sonde_remote_blocks_missed_total") == blocks
        assert relay.counts["GET"] <= 2 + blocks
    relay.shutdown()


def sonde(*arguments, env=None):
    run = subprocess.run([PROGRAM, *arguments], env=env, text=True, capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
    return run.returncode, run.stdout + run.stderr


def test_commands_read_a_bucket_and_say_what_is_wrong(store, client, tmp_path):
    client.put_object(Bucket="logs", Key="one/events.out.tfevents.1", Body=event_file(5))
    env = environment(store, tmp_path / "cache")
    code, said = sonde("inspect", "s3://logs/one", env=env)
    assert code == 0 and "5" in said
    code, said = sonde("inspect", "s3://nowhere/x", env=env)
    assert code == 1 and "s3://nowhere" in said
    code, said = sonde("inspect", "s3://", env=env)
    assert code == 2 and "s3://BUCKET/PREFIX" in said


@pytest.mark.parametrize("place", ["abfs://x/y", "ftp://host/x", "nonsense://x"])
def test_other_schemes_are_refused_at_once(place):
    for command in (["--logdir", place, "--port", "0"], ["inspect", place]):
        code, said = sonde(*command)
        assert code != 0 and "is not supported" in said and place in said


def test_a_file_address_is_a_folder(tmp_path):
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b/events.out.tfevents.1").write_bytes(event_file(4))
    with Server(f"file://{tmp_path}/a%20b") as server:
        assert len(server.json("/data/plugin/scalars/scalars?run=.&tag=loss")) == 4


class Crowd(http.server.BaseHTTPRequestHandler):
    """A bucket of 100 000 objects that is made up as it is asked: pages of a thousand, of every five hundred one is an event file."""

    protocol_version = "HTTP/1.1"
    OBJECTS, EVERY = 100_000, 500
    BODY = event_file(3)

    def do_GET(self):
        with self.server.lock:
            self.server.asked.append(self.path)
        parts = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(parts.query))
        if "list-type" not in query:
            return self.say(self.BODY, 206, ETag='"1"', Content_Range=f"bytes 0-{len(self.BODY) - 1}/{len(self.BODY)}")
        begin = int(query.get("continuation-token", 0))
        end = min(begin + 1000, self.OBJECTS)
        objects = "".join(f"<Contents><Key>{self.name(i)}</Key><Size>{len(self.BODY)}</Size><ETag>&quot;1&quot;</ETag>"
                          "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>" for i in range(begin, end))
        more = f"<NextContinuationToken>{end}</NextContinuationToken>" if end < self.OBJECTS else ""
        self.say(f"<ListBucketResult><IsTruncated>{'true' if more else 'false'}</IsTruncated>{objects}{more}</ListBucketResult>".encode(), 200)

    def name(self, i):
        return f"crowd/run{i:06}/events.out.tfevents.1" if i % self.EVERY == 0 else f"crowd/run{i // 100 * 100:06}/checkpoint-{i}.bin"

    def say(self, body, status, **headers):
        self.send_response(status)
        for header, value in headers.items():
            self.send_header(header.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Odd(Crowd):
    """Names that would lead out of a folder."""

    NAMES = ("events.out.tfevents.1", "../../outside.txt", "a//b.txt", "./c.txt", "a/../../../d.txt", "good.txt")
    OBJECTS = len(NAMES)

    def name(self, i):
        return f"crowd/{self.NAMES[i]}"


def made_up(handler, tmp_path):
    bucket = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    bucket.daemon_threads, bucket.asked, bucket.lock = True, [], threading.Lock()
    threading.Thread(target=bucket.serve_forever, daemon=True).start()
    return bucket, environment(f"http://127.0.0.1:{bucket.server_address[1]}", tmp_path / "cache")


def test_names_that_lead_elsewhere_get_no_file(tmp_path):
    bucket, env = made_up(Odd, tmp_path)
    with Server("s3://logs/crowd", env, "--reload_interval", "0") as server:
        assert server.json("/data/runs") == ["."]
    assert [path.name for path in tmp_path.rglob("*.txt")] == ["good.txt"]
    code, said = sonde("sync", "s3://logs/crowd", str(tmp_path / "copy"), env=env)
    assert code == 1 and "out of the folder" in said
    bucket.shutdown()


def test_a_bucket_of_a_hundred_thousand_objects(tmp_path):
    bucket, env = made_up(Crowd, tmp_path)
    runs = Crowd.OBJECTS // Crowd.EVERY
    with Server("s3://logs/crowd", env, "--reload_interval", "0") as server:
        assert len(server.json("/data/runs")) == runs
        listings = [path for path in bucket.asked if "list-type" in path]
        # One to see that the place answers, ⌈objects / 1000⌉ for the listing; a block for each small file.
        assert len(listings) == 1 + Crowd.OBJECTS // 1000 and len(bucket.asked) - len(listings) == runs
        assert "too many files beside the logs" in json.dumps(server.json("/api/v1/diagnosis"))
    bucket.shutdown()


def test_requests_with_latency_and_errors_stay_below_the_formula(store, client, tmp_path):
    """30 ms a request and one in a hundred refused: the start is 2 listings, a block a file, and as many again as were refused."""
    for i in range(30):
        client.put_object(Bucket="logs", Key=f"slow/run{i:02}/events.out.tfevents.1", Body=event_file(20))
    relay = Faulty(store)
    relay.delay, relay.errors = 0.03, random.Random(5)
    with Server("s3://logs/slow", environment(relay.url, tmp_path / "cache"), "--reload_interval", "0") as server:
        assert len(server.json("/data/runs")) == 30
        assert sum(relay.counts.values()) == 2 + 30 + server.metric("sonde_remote_retries_total")
    relay.shutdown()
