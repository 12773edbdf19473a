"""What attackers and bad days found: each fault with the input that showed it. Nothing here looks at a clock but for
limits far beyond what a right answer takes."""

import contextlib
import gzip
import json
import os
import socket
import subprocess
import threading
import time
from urllib.parse import quote

import pytest
from event_files import event, field, scalar
from server import SONDE, exchange, read_reply, request, running, until

WRITE = {"Sonde-Request": "1"}


def chrome_trace(events):
    return json.dumps({"traceEvents": events}).encode()


def slices(count, name="x", **more):
    return [{"ph": "X", "name": name, "ts": i, "dur": 1, "pid": 1, "tid": 1, **more} for i in range(count)]


def drop(server, name, content):
    reply = server.ask(f"/api/v1/trace?name={quote(name)}", "POST", WRITE, content)
    assert reply.status == 200, reply.text
    return json.loads(reply.body)["session"]


def graph_log(folder):
    """A run with a graph of one node; the event file, to write more into."""
    node = field(1, field(1, b"a") + field(2, b"NoOp"))
    file = folder / "events.out.tfevents.1700000000.host"
    file.write_bytes(event(0, field(4, node)))
    return file


def graph_id(server):
    found = []

    def listed():
        found[:] = json.loads(server.ask("/api/v1/graphs").body)
        return found

    until(listed)
    return found[0]["id"]


def test_services_outlive_any_number_of_request_keys(tmp_path):
    graph_log(tmp_path)
    with running(logdir=tmp_path) as server:
        session = drop(server, "kept.json", chrome_trace(slices(3)))
        graph = graph_id(server)
        with contextlib.closing(server.connect()) as connection:
            stream = connection.makefile("rb")
            asked, step = 100_200, 300
            for first in range(0, asked, step):
                connection.sendall(b"".join(request(f"/api/v1/graphs/{graph}/level?metadata=x{i}", host=f"localhost:{server.port}") for i in range(first, first + step)))
                for _ in range(step):
                    assert read_reply(stream).status == 404
        assert server.ask(f"/api/v1/trace/tracks?session={quote(session)}").status == 200


def test_run_metadata_that_was_missing_is_found_when_it_is_logged(tmp_path):
    file = graph_log(tmp_path)
    with running("--reload_interval", "1", logdir=tmp_path) as server:
        graph = graph_id(server)
        target = f"/api/v1/graphs/{graph}/level?metadata=step"
        assert server.ask(target).status == 404
        stats = field(1, field(1, field(1, b"/cpu:0") + field(2, field(1, b"a") + b"\x10\x05")))
        with file.open("ab") as log:
            log.write(event(1, field(8, field(1, b"step") + field(2, stats))))
        until(lambda: server.ask(target).status == 200)


def test_names_with_many_categories_take_time_in_proportion(tmp_path):
    """60 000 categories took 2.5 s a request: more than a hundred times what the categories' own listing takes."""
    events = [{"ph": "X", "name": f"n{i}", "cat": f"c{i}", "ts": i, "dur": 1, "pid": 1, "tid": 1} for i in range(60_000)]
    with running(logdir=tmp_path) as server:
        session = drop(server, "categories.json", chrome_trace(events))
        used = []
        for target in ("names", "about"):
            assert server.ask(f"/api/v1/trace/{target}?session={quote(session)}").status == 200
            before = cpu_ticks(server)
            for _ in range(3):
                reply = server.ask(f"/api/v1/trace/{target}?session={quote(session)}")
            used.append(cpu_ticks(server) - before + 1)
        assert reply.status == 200
        assert used[0] < 30 * used[1], used


def cpu_ticks(server):
    fields = open(f"/proc/{server.process.pid}/stat").read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def profile_folder(folder):
    place = folder / "run/plugins/profile/one"
    place.mkdir(parents=True)
    return place


def test_a_capture_that_is_cut_while_it_loads_is_an_error_not_the_end(tmp_path):
    file = profile_folder(tmp_path) / "host.trace.json"
    content = chrome_trace(slices(200_000, name="a slice with a name of some length"))
    with running(logdir=tmp_path) as server:
        for attempt in range(6):
            file.write_bytes(content)
            stop = threading.Event()

            def cut(stop=stop, attempt=attempt):
                time.sleep(0.01 * attempt)
                while not stop.is_set():
                    os.truncate(file, 4096)
                    os.truncate(file, len(content))
                    time.sleep(0.001)

            cutter = threading.Thread(target=cut)
            cutter.start()
            try:
                reply = server.ask("/api/v1/trace/tracks?session=run%2Fone")
            finally:
                stop.set()
                cutter.join()
            assert reply is not None and server.process.poll() is None, "the server has ended"
            time.sleep(0.05)
        assert server.ask("/api/v1/runs").status == 200


@pytest.mark.parametrize("kind", ["fifo", "socket", "device", "proc", "folder"])
def test_what_is_no_file_is_refused_without_waiting(tmp_path, kind):
    place = profile_folder(tmp_path)
    paths = [place / "host.trace.json", place / "host.xplane.pb", tmp_path / "run/events.out.tfevents.1.host", tmp_path / "graph.pbtxt"]
    bound = []
    for path in paths:
        if kind == "fifo":
            os.mkfifo(path)
        elif kind == "socket":
            with contextlib.chdir(path.parent):
                bound.append(socket.socket(socket.AF_UNIX))
                bound[-1].bind(path.name)
        elif kind == "folder":
            path.mkdir()
        else:
            path.symlink_to("/dev/zero" if kind == "device" else "/proc/self/mem")
    commands = [["profile", str(paths[0])], ["profile", str(tmp_path)], ["timeline", str(paths[0]), "--out", str(tmp_path / "out.json")], ["timeline", str(paths[3]), "--out", str(tmp_path / "out.json")],
                ["--inspect", "--event_file", str(paths[2])], ["--inspect", "--logdir", str(tmp_path)], ["export", str(tmp_path)]]
    for command in commands:
        run = subprocess.run([SONDE, *command], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
        assert run.returncode >= 0, (command, run)
    with running(logdir=tmp_path) as server:
        for target in ("profile/sessions", "trace/tracks?session=run%2Fone", "embeddings", "graphs", "runs"):
            assert server.ask("/api/v1/" + target).status in (200, 400, 404, 422, 500)
    for one in bound:
        one.close()


def test_a_token_file_that_is_a_pipe_is_refused(tmp_path):
    pipe = tmp_path / "token"
    os.mkfifo(pipe, 0o600)
    run = subprocess.run([SONDE, "--logdir", str(tmp_path), "--auth_token_file", str(pipe), "--port", "0"], capture_output=True, text=True, timeout=20)
    assert run.returncode != 0 and "not a regular file" in run.stderr, run.stderr


def test_a_gzip_bomb_is_refused_with_its_ratio(tmp_path):
    bomb = gzip.compress(b"0" * (300 << 20), 9)
    assert len(bomb) < 1 << 20
    with running(logdir=tmp_path) as server:
        reply = server.ask("/api/v1/trace?name=bomb.json.gz", "POST", WRITE, bomb)
        assert reply.status == 413 and "times its" in reply.text, reply.text
        assert server.rss_mb() < 400
        (profile_folder(tmp_path) / "host.trace.json.gz").write_bytes(bomb)
        reply = server.ask("/api/v1/trace/tracks?session=run%2Fone")
        assert reply.status == 413 and "times its" in reply.text, reply.text


def test_a_gzip_bomb_as_event_file_ends_with_a_sentence(tmp_path):
    (tmp_path / "good").mkdir()
    (tmp_path / "good/events.out.tfevents.1.host").write_bytes(scalar("loss", 1, 0.5))
    (tmp_path / "events.out.tfevents.2.host").write_bytes(gzip.compress(scalar("loss", 1, 0.5) + bytes(400 << 20), 9))
    with running(logdir=tmp_path) as server:
        until(lambda: '"loss"' in server.ask("/api/v1/tags").text and "partial" not in json.loads(server.ask("/api/v1/runs").body), 60)
        runs = json.loads(server.ask("/api/v1/runs").body)["runs"]
        assert {run["name"]: run["points"] for run in runs} == {".": 1, "good": 1}


def test_a_page_is_answered_when_a_request_is_odd(tmp_path):
    with running(logdir=tmp_path) as server:
        for target in ("/?" + "a=%00" * 1000, "/experiment/%ff%fe/", "/?" + "&" * 9000):
            with contextlib.closing(server.connect()) as connection:
                assert exchange(connection, request(target, host=f"localhost:{server.port}")).status < 500


def test_a_crowd_of_tracks_is_folded_and_said(tmp_path):
    """200 000 processes of one thread and one slice: the digest took minutes, the list 46 MB."""
    events = [{"ph": "X", "name": "x", "ts": i, "dur": 1 + i % 7, "pid": i, "tid": i} for i in range(200_000)]
    file = profile_folder(tmp_path) / "host.trace.json"
    file.write_bytes(chrome_trace(events))
    with running(logdir=tmp_path) as server:
        reply = server.ask("/api/v1/trace/tracks?session=run%2Fone")
        answer = json.loads(reply.body)
        assert 10_000 < len(answer["tracks"]) <= 20_000 and len(reply.body) < 4 << 20
        assert any("busiest are shown" in text for text in answer["diagnostics"]), answer["diagnostics"]
        listed = {track["id"] for track in answer["tracks"]}
        assert all(track["parent"] in listed for track in answer["tracks"] if "parent" in track)
        for tool in ("xspace_digest", "overview_page", "torch.overview"):
            before = cpu_ticks(server)
            assert server.ask(f"/api/v1/profile/report?session=run%2Fone&tool={tool}").status in (200, 422)
            assert cpu_ticks(server) - before < 3000, tool  # 30 s of computing: minutes before


def test_dropped_files_are_forgotten_when_the_page_is_gone(tmp_path):
    with running("--keep_uploads", "1", logdir=tmp_path) as server:
        session = drop(server, "x.json", chrome_trace(slices(3)))
        target = f"/api/v1/trace/tracks?session={quote(session)}"
        with contextlib.closing(server.connect()) as page:  # a page listens to events
            page.sendall(request("/api/v1/events", host=f"localhost:{server.port}"))
            time.sleep(2.5)
            assert server.ask(target).status == 200
        end = time.monotonic() + 30
        status = 200
        while status == 200 and time.monotonic() < end:
            time.sleep(2.5)  # longer than they are kept: asking keeps them, too
            status = server.ask(target).status
        assert status == 404


@pytest.mark.parametrize("address", ["169.254.169.254:80", "10.0.0.1:6009", "192.168.1.1:6009", "[fe80::1]:6009", "[::ffff:169.254.169.254]:80", "0.0.0.0:6009", "2852039166:80"])
def test_captures_do_not_connect_to_the_networks_around(tmp_path, address):
    with running(logdir=tmp_path) as server:
        body = json.dumps({"service": address, "duration_ms": 1, "retries": 0, "timeout_ms": 3000}).encode()
        reply = server.ask("/api/v1/profile/capture", "POST", WRITE, body)
        if reply.status == 400:
            return  # not even an address
        assert reply.status == 202, reply.text
        found = {}

        def over():
            found.update(json.loads(server.ask("/api/v1/profile/capture/1").body))
            return found["state"] != "running"

        until(over)
        assert found["state"] == "failed" and ("--allow_connect" in str(found) or "not the address of one machine" in str(found)), found


def test_captures_are_started_by_our_own_page_only(tmp_path):
    with running(logdir=tmp_path) as server:
        body = json.dumps({"service": "localhost:1"}).encode()
        assert server.ask("/api/v1/profile/capture", "POST", {}, body).status == 403
        assert server.ask("/api/v1/profile/capture", "POST", {**WRITE, "Origin": "http://evil.example"}, body).status == 403
        assert server.ask("/data/plugin/profile/capture_profile?service_addr=localhost:1", headers={"Sec-Fetch-Site": "cross-site"}).status == 403
