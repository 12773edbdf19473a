"""`sonde --store clickhouse://…` answers as the log directory does, whatever happened to those who pushed it."""

import http.server
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from databases import Debian, Newest, free_port

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scale"))
from event_files import event_file, scalar_file
from sonde_server import DATA, PROGRAM, Server, questions

ENV = os.environ | {"CLICKHOUSE_PASSWORD": "word"}


@pytest.fixture(scope="module", params=[Debian, Newest])
def database(request, tmp_path_factory):
    server = request.param(tmp_path_factory.mktemp("clickhouse"))
    yield server
    server.stop()


def address(port):
    return f"clickhouse://default@127.0.0.1:{port}/team"


def push(port, logdir, project, *flags, check=True):
    run = subprocess.run([PROGRAM, "push", str(logdir), "--to", address(port), "--project", project, *flags], env=ENV, capture_output=True, text=True,
                         timeout=300)
    assert not check or run.returncode == 0, run.stderr
    return run


def served(port, project, *flags):
    return Server(["--store", address(port), "--project", project], ENV, *flags)


def scalars(server, run, tag="loss"):
    return server.json(f"/data/plugin/scalars/scalars?run={run}&tag={tag}")


@pytest.mark.parametrize("name", ["edge_restart_session", "edge_values", "graph_raw", "keras_fit_batch", "tf2_histograms", "tf2_images", "tf2_scalars",
                                  "tf2_text", "torch_hparams", "v1_compat"])
def test_tables_answer_as_the_disk_does(name, database, tmp_path):
    with tarfile.open(DATA / f"{name}.tar.gz") as archive:
        archive.extractall(tmp_path)
    push(database.port, tmp_path / name, name)
    asked = [path for path in questions(name) if path not in ("/", "/index.html")]  # the page has the name of its server in it
    assert len(asked) > 3
    with Server(tmp_path / name) as disk, served(database.port, name) as tables:
        for path in asked:
            assert tables.get(path) == disk.get(path), path
        runs, wanted = tables.json("/api/v1/runs")["runs"], disk.json("/api/v1/runs")["runs"]
        assert [(run["name"], run["points"]) for run in runs] == [(run["name"], run["points"]) for run in wanted]
        assert b"<!doctype html>" in tables.get("/")[:100].lower()
        assert b"word" not in tables.get("/api/v1/diagnosis") + tables.get("/data/environment")


class Cut(http.server.ThreadingHTTPServer):
    """Passes requests on; at one of them it kills the process that asks, before or after the database has heard."""

    daemon_threads = True

    def __init__(self, port, at, is_heard):
        self.target, self.at, self.is_heard, self.seen, self.victim, self.lock = f"http://127.0.0.1:{port}", at, is_heard, 0, None, threading.Lock()
        super().__init__(("127.0.0.1", 0), Passing)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Passing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.seen += 1
            is_cut = self.server.seen == self.server.at
        if is_cut and not self.server.is_heard:
            self.server.victim.kill()
        else:
            headers = {name: self.headers[name] for name in ("X-ClickHouse-User", "X-ClickHouse-Key") if name in self.headers}
            with urllib.request.urlopen(urllib.request.Request(self.server.target + self.path, body, headers), timeout=60) as answer:
                text = answer.read()
            if is_cut:
                self.server.victim.kill()
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    def log_message(self, *_):
        pass


def test_a_pusher_killed_at_any_request_loses_nothing_and_doubles_nothing(database, tmp_path):
    for run in ("a", "b"):
        (tmp_path / run).mkdir()
        (tmp_path / run / "events.out.tfevents.1").write_bytes(scalar_file(["loss", "rate"], 50))
    with Server(tmp_path) as disk:
        wanted = [scalars(disk, run, tag) for run in ("a", "b") for tag in ("loss", "rate")]
    cuts = 0
    for is_heard in (False, True):
        for at in range(1, 100):
            project = f"cut{at}{is_heard}"
            relay = Cut(database.port, at, is_heard)
            relay.victim = subprocess.Popen([PROGRAM, "push", str(tmp_path), "--to", address(relay.server_address[1]), "--project", project], env=ENV,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            code = relay.victim.wait(60)
            relay.shutdown()
            if code == 0:  # it was done before
                break
            cuts += 1
            push(database.port, tmp_path, project)
            with served(database.port, project, "--reload_interval", "0") as tables:
                assert [scalars(tables, run, tag) for run in ("a", "b") for tag in ("loss", "rate")] == wanted
            rows = database.ask(f"SELECT count(), uniqExact(run, tag, n) FROM team.points FINAL WHERE project = '{project}'")
            assert [int(cell) for cell in rows[0]] == [200, 200]
    assert cuts >= 8


def test_points_that_come_later_are_seen_by_every_server(database, tmp_path):
    (tmp_path / "r").mkdir()
    file = tmp_path / "r/events.out.tfevents.1"
    file.write_bytes(event_file(3))
    push(database.port, tmp_path, "live")
    flags = ("--reload_interval", "0.1")
    with served(database.port, "live", *flags) as one, served(database.port, "live", *flags) as two:
        assert len(scalars(one, "r")) == len(scalars(two, "r")) == 3
        file.write_bytes(event_file(8))
        (tmp_path / "s").mkdir()
        (tmp_path / "s/events.out.tfevents.1").write_bytes(event_file(2))
        push(database.port, tmp_path, "live")
        deadline = time.monotonic() + 60
        for server in (one, two):
            while server.json("/data/runs") != ["r", "s"] or len(scalars(server, "r")) != 8:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            assert len(scalars(server, "s")) == 2


def test_a_database_that_is_away_gives_no_wrong_numbers(tmp_path):
    (tmp_path / "node").mkdir()
    node = Debian(tmp_path / "node")
    (tmp_path / "logs/r").mkdir(parents=True)
    (tmp_path / "logs/r/events.out.tfevents.1").write_bytes(event_file(10))
    push(node.port, tmp_path / "logs", "away")
    with served(node.port, "away", "--reload_interval", "0") as server:
        node.kill()
        with pytest.raises(urllib.error.HTTPError) as refused:
            scalars(server, "r")
        assert refused.value.code == 503 and b"127.0.0.1" in refused.value.read()
        assert server.json("/data/runs") == ["r"]
        node.start()
        assert len(scalars(server, "r")) == 10
    node.stop()
    run = subprocess.run([PROGRAM, "--store", "clickhouse://nowhere", "--port", "0"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 2 and "clickhouse://[USER" in run.stderr


def test_two_nodes_one_of_them_killed_and_restarted(tmp_path):
    ports = [free_port(), free_port()]
    nodes = []
    for i, port in enumerate(ports):
        (tmp_path / f"node{i}").mkdir()
        nodes.append(Debian(tmp_path / f"node{i}", tcp=port, nodes=ports))
    logs = tmp_path / "logs"
    for run in range(40):
        (logs / f"run{run:02}").mkdir(parents=True)
        (logs / f"run{run:02}/events.out.tfevents.1").write_bytes(event_file(50 + run))
    for node in nodes:
        push(node.port, logs, "team", "--cluster", "team", "--tables_only")
    follower = subprocess.Popen([PROGRAM, "push", str(logs), "--to", address(nodes[0].port), "--project", "team", "--cluster", "team", "--follow"], env=ENV,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def count(node):
        return int(node.ask("SELECT sum(points) FROM team.series FINAL WHERE project = 'team'")[0][0])

    def wait_for(points):
        deadline = time.monotonic() + 120
        while count(nodes[0]) != points:
            assert time.monotonic() < deadline and follower.poll() is None
            time.sleep(0.1)

    first = sum(50 + run for run in range(40))
    wait_for(first)
    shares = [int(node.ask("SELECT count() FROM team.points_local")[0][0]) for node in nodes]
    assert sum(shares) == first and min(shares) > 0
    nodes[1].kill()
    for run in range(40):
        (logs / f"run{run:02}/events.out.tfevents.1").write_bytes(event_file(150 + run))
    assert "trying again" in follower.stdout.readline()
    nodes[1].start()
    wait_for(first + 4000)
    follower.terminate()
    assert follower.wait(60) == 0, follower.stdout.read()
    for node in nodes:
        rows = node.ask("SELECT uniqExact(run, tag, n), sum(value) FROM team.points FINAL WHERE project = 'team'")
        assert [float(cell) for cell in rows[0]] == [first + 4000, sum(sum(range(150 + run)) for run in range(40))]
    with Server(logs) as disk, served(nodes[0].port, "team") as one, served(nodes[1].port, "team") as two:
        for run in range(40):
            assert scalars(one, f"run{run:02}") == scalars(two, f"run{run:02}") == scalars(disk, f"run{run:02}")
        assert one.json("/api/v1/runs")["runs"]
        assert disk.json("/data/runs") == one.json("/data/runs")
    for node in nodes:
        node.stop()
    shutil.rmtree(tmp_path, ignore_errors=True)
