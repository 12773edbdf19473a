"""Log directories in an S3-compatible store (moto) answer as those on disk do, with counted requests."""

import http.server
import os
import subprocess
import tarfile
import threading
import time
import urllib.error
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
        self.target, self.counts, self.fail_every, self.seen, self.delay, self.errors = target, {}, 0, 0, 0, None
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
        time.sleep(server.delay)
        if fails:
            self.answer(503, {}, b"<Error><Code>SlowDown</Code></Error>")
            return
        request = urllib.request.Request(server.target + self.path, headers=dict(self.headers), method=self.command)
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

    do_GET = do_HEAD = relay

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def store():
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


@pytest.mark.parametrize("name", ["edge_restart_session", "graph_raw", "keras_fit_batch", "mesh", "tf2_audio", "tf2_histograms",
                                  "tf2_images", "tf2_text", "torch_hparams", "v1_compat"])
def test_a_bucket_answers_as_the_disk_does(name, store, client, tmp_path):
    with tarfile.open(DATA / f"{name}.tar.gz") as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / name
    upload(client, folder, name)
    asked = questions(name)
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
