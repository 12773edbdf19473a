"""Captures of running programs, asked of a profiler server whose answers the test decides."""

import json
import re
import subprocess
import threading
from pathlib import Path

import grpc
import pytest
from profiler_server import EMPTY, answer, field, fields, free_port, profiler_server, raw_server, xspace
from server import SONDE, running, until

SESSION = re.compile(r"\d{4}(_\d\d){5}(_\d+)?")
WRITES = {"Sonde-Request": "1"}


def capture(folder, service, *more):
    return subprocess.run([SONDE, "capture", "--service", service, "--logdir", str(folder), "--duration_ms", "10", "--retries", "0", *more],
                          capture_output=True, text=True, timeout=60)


def written(folder):
    return sorted(p.name for p in Path(folder).glob("plugins/profile/*/*"))


def one_sentence(done):
    assert done.returncode == 1 and done.stderr.startswith("sonde: ") and done.stderr.count("\n") == 1, done
    return done.stderr


def test_help_teaches():
    done = subprocess.run([SONDE, "capture", "--help"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and "jax.profiler.start_server(6009)" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize("args, part", [
    ([], "--service"),
    (["--service", "localhost:6009"], "--logdir"),
    (["--service", "localhost", "--logdir", "x"], "names no port"),
    (["--service", "../../x:1", "--logdir", "x"], "no address"),
    (["--service", "a:1", "--logdir", "x", "--duration_ms", "0"], "duration_ms"),
    (["--service", "a:1", "--logdir", "x", "--host_tracer_level", "9"], "host_tracer_level"),
    (["--service", "a:1", "--logdir", "x", "--host_tracer_level", "0", "--device_tracer_level", "0"], "every tracer is off"),
    (["--service", "a:1", "--logdir", "x", "--option", "novalue"], "KEY=VALUE"),
])
def test_wrong_usage(args, part, tmp_path):
    done = subprocess.run([SONDE, "capture", *args], capture_output=True, text=True, timeout=30, cwd=tmp_path)
    assert done.returncode == 2 and part in done.stderr and done.stderr.count("\n") == 1


def test_one_host(tmp_path):
    with profiler_server() as profiler:
        done = capture(tmp_path, profiler.address, "--python_tracer_level", "1", "--option", "mode=deep", "--delay_ms", "5")
        assert done.returncode == 0 and done.stderr == ""
        folder = Path(done.stdout.strip())
        assert folder.parent == tmp_path / "plugins" / "profile" and SESSION.fullmatch(folder.name)
        file = folder / (profiler.address.replace(":", "_") + ".xplane.pb")
        assert file.read_bytes() == xspace()
        request = profiler.requests[0]
        assert request[3] == b"xplane.pb" and request[9] == 1
        assert request[5] == str(tmp_path / "plugins/profile").encode() and request[6] == folder.name.encode()
        options = fields(request[4])
        assert (options[2], options[3], options[4], options[5], options[9]) == (2, 1, 1, 1, 10)
        assert options[8] > 10**18 and fields(options[12])[1] == b"mode"
    shown = subprocess.run([SONDE, "timeline", "stats", str(file)], capture_output=True, text=True, timeout=30)
    assert "train_step" in shown.stdout


def test_two_hosts_begin_together(tmp_path):
    with profiler_server() as one, profiler_server(answer(xspace(b"/host:two"))) as two:
        done = capture(tmp_path, f"{one.address},{two.address}")
        assert done.returncode == 0
        assert written(tmp_path) == sorted(p.address.replace(":", "_") + ".xplane.pb" for p in (one, two))
        starts = {fields(p.requests[0][4])[8] for p in (one, two)}
        assert len(starts) == 1


def test_one_of_two_hosts_is_not_there(tmp_path):
    with profiler_server() as one:
        done = capture(tmp_path, f"{one.address},localhost:{free_port()}")
        assert done.returncode == 1 and "1 of 2 hosts are missing" in done.stderr and "nobody listens" in done.stderr
        assert len(written(tmp_path)) == 1


def test_refused(tmp_path):
    port = free_port()
    text = one_sentence(capture(tmp_path, f"localhost:{port}"))
    assert f"nobody listens at localhost:{port}" in text and "start_server" in text
    assert not (tmp_path / "plugins").exists()


def test_deadline(tmp_path):
    with raw_server(b"") as address:
        assert "did not answer in time" in one_sentence(capture(tmp_path, address, "--timeout_ms", "50"))


@pytest.mark.parametrize("said, part", [
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", "answers as a web server"),
    (b"SSH-2.0-OpenSSH_9.2\r\n", "is no HTTP/2"),
    (b"\x00\x00\x00\x04\x00\x00\x00\x00\x00" + b"\xff" * 100, "breaks the rules"),
])
def test_garbage(said, part, tmp_path):
    with raw_server(said) as address:
        text = one_sentence(capture(tmp_path, address))
        assert "is not a profiler server" in text and part in text


def test_an_answer_that_is_no_profile(tmp_path):
    with profiler_server(b"\x42\xff\xff\xff\xff\x0f") as profiler:
        assert "no profile" in one_sentence(capture(tmp_path, profiler.address))
        assert written(tmp_path) == []


def test_large_answers(tmp_path):
    large = xspace() + field(2, b"x" * (40 << 20))  # beyond the window of flow control
    with profiler_server(answer(large)) as profiler:
        assert capture(tmp_path, profiler.address).returncode == 0
        assert next(tmp_path.glob("plugins/profile/*/*")).read_bytes() == large


def test_empty_traces_are_tried_again(tmp_path):
    with profiler_server(EMPTY, EMPTY, answer()) as profiler:
        done = capture(tmp_path, profiler.address, "--retries", "2")
        assert done.returncode == 0 and len(profiler.requests) == 3 and len(written(tmp_path)) == 1
    with profiler_server(EMPTY) as profiler:
        text = one_sentence(capture(tmp_path, profiler.address, "--retries", "1"))
        assert "recorded nothing" in text and "tried 2 times" in text


def test_what_the_server_says(tmp_path):
    def busy(_, context):
        context.abort(grpc.StatusCode.INTERNAL, "Another profiling session active.")

    with profiler_server(busy) as profiler:
        assert "somebody else: Another profiling session active." in one_sentence(capture(tmp_path, profiler.address))
    with profiler_server(busy, answer()) as profiler:
        assert capture(tmp_path, profiler.address, "--retries", "1").returncode == 0


def test_a_server_that_writes_itself(tmp_path):
    def writes(request, _):
        asked = fields(request)
        folder = Path(asked[5].decode()) / asked[6].decode()
        folder.mkdir(parents=True)
        (folder / (asked[7].decode().replace(":", "_") + ".xplane.pb")).write_bytes(xspace())
        return b""

    with profiler_server(writes) as profiler:
        assert capture(tmp_path, profiler.address).returncode == 0
    with profiler_server(b"") as profiler:
        assert "on its own machine" in one_sentence(capture(tmp_path, profiler.address))


def test_old_servers_give_files(tmp_path):
    def item(name):
        return field(6, field(1, name) + field(2, xspace()))

    with profiler_server(item(b"xplane.pb") + item(b"../../../evil") + item(b"a/b")) as profiler:
        assert capture(tmp_path, profiler.address).returncode == 0
        assert written(tmp_path) == [profiler.address.replace(":", "_") + ".xplane.pb"]


def test_workers_of_a_server_without_a_head(tmp_path):
    """A head that cannot collect answers UNIMPLEMENTED: the workers are asked one by one."""
    with profiler_server() as head, profiler_server() as worker:
        done = capture(tmp_path, head.address, "--worker_list", worker.address)
        assert done.returncode == 0 and head.requests == [] and len(worker.requests) == 1


def ask(server, path, method="GET", body=None, **more):
    reply = server.ask("/api/v1/" + path, method, {**WRITES, **more}, json.dumps(body).encode() if body is not None else b"")
    return reply.status, json.loads(reply.text)


def over(server, number):
    status = []

    def is_over():
        status[:] = [ask(server, f"profile/capture/{number}")[1]]
        return status[0]["state"] != "running"

    until(is_over)
    return status[0]


def test_a_capture_as_a_job(tmp_path):
    with profiler_server() as profiler, running(logdir=tmp_path) as server:
        status, begun = ask(server, "profile/capture", "POST", {"service": profiler.address, "duration_ms": 10, "options": {"a": "b"}})
        assert status == 202 and begun["state"] == "running"
        done = over(server, begun["capture"])
        assert done["state"] == "done" and done["hosts"][0]["phase"] == "done" and done["hosts"][0]["bytes"] > 50
        assert done["session"] in [s["id"] for s in ask(server, "profile/sessions")[1]]
        listed = ask(server, "profile/capture")[1]
        assert listed["allowed"] and [c["capture"] for c in listed["captures"]] == [begun["capture"]]


def test_a_capture_is_cancelled(tmp_path):
    asked, release = threading.Event(), threading.Event()

    def slow(_, context):
        asked.set()
        release.wait(20)
        return answer()

    with profiler_server(slow) as profiler, running(logdir=tmp_path) as server:
        _, begun = ask(server, "profile/capture", "POST", {"service": profiler.address, "duration_ms": 10})
        assert asked.wait(20)
        assert ask(server, "profile/capture", "POST", {"service": profiler.address})[0] == 503
        assert ask(server, f"profile/capture/{begun['capture']}", "DELETE")[0] == 200
        assert over(server, begun["capture"])["state"] == "cancelled"
        assert profiler.terminated.wait(20)
        release.set()
        assert written(tmp_path) == []


def test_failures_of_a_job_are_sentences(tmp_path):
    with running(logdir=tmp_path) as server:
        _, begun = ask(server, "profile/capture", "POST", {"service": f"localhost:{free_port()}", "retries": 0})
        done = over(server, begun["capture"])
        assert done["state"] == "failed" and "nobody listens" in done["error"]
        for body, part in [({}, "no address"), ({"service": "x"}, "names no port"), ({"service": "a:1", "duration_ms": "x"}, "duration_ms"),
                           ({"service": "a:1", "options": {"a": 1}}, "options.a"), ({"service": "a:1", "root": "x"}, "named 'x'")]:
            status, said = ask(server, "profile/capture", "POST", body)
            assert status in (400, 404) and part in said["error"]["text"]
        assert ask(server, "profile/capture/99")[0] == 404
        assert server.ask("/api/v1/profile/capture", "POST", {}, b'{"service":"a:1"}').status == 403


def test_the_route_of_xprof(tmp_path):
    with profiler_server() as profiler, running(logdir=tmp_path) as server:
        target = f"/data/plugin/profile/capture_profile?service_addr=grpc://{profiler.address}&duration=10&is_tpu_name=false&worker_list=&num_retry=0"
        reply = server.ask(target)
        assert reply.status == 200 and json.loads(reply.text) == {"result": "Capture profile successfully. Please refresh."}
        assert len(json.loads(server.ask("/data/plugin/profile/runs").text)) == 1
        assert json.loads(server.ask("/data/plugin/profile/config").text)["hideCaptureProfileButton"] is False
        here = f"localhost:{server.port}"
        for headers, status in [({"Sec-Fetch-Site": "same-origin", "Referer": f"http://{here}/"}, 200),
                                ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 403),
                                ({"Sec-Fetch-Site": "same-site"}, 403), ({"Referer": "http://evil.example/"}, 403)]:
            assert server.ask(target, headers=headers).status == status
        assert len(profiler.requests) == 2
        for query, part in [("service_addr=x&is_tpu_name=true", "TPU names"), ("", "no address"), (f"service_addr={profiler.address}&duration=x", "duration")]:
            reply = server.ask("/data/plugin/profile/capture_profile?" + query)
            assert reply.status == 400 and part in json.loads(reply.text)["error"]
        reply = server.ask(f"/data/plugin/profile/capture_profile?service_addr=localhost:{free_port()}")
        assert reply.status == 500 and "nobody listens" in json.loads(reply.text)["error"]


@pytest.mark.parametrize("args", [["--read_only"], ["--bind_all", "--auth", "none"]])
def test_who_may_not_write_may_not_capture(args, tmp_path):
    with profiler_server() as profiler, running(*args, logdir=tmp_path) as server:
        assert ask(server, "profile/capture")[1]["allowed"] is False
        status, said = ask(server, "profile/capture", "POST", {"service": profiler.address})
        assert status == 403 and said["error"]["text"] == ask(server, "profile/capture")[1]["reason"]
        assert server.ask(f"/data/plugin/profile/capture_profile?service_addr={profiler.address}").status == 403
        assert json.loads(server.ask("/data/plugin/profile/config").text)["hideCaptureProfileButton"] is True
        assert ask(server, "profile/request", "POST", {"run": "."})[0] == 403
        assert profiler.requests == [] and written(tmp_path) == []


def test_asking_a_program_that_watches_its_folder(tmp_path):
    watch = tmp_path / "sonde_profile.json"
    with running(logdir=tmp_path) as server:
        assert ask(server, "profile/request", "POST", {"run": "."})[0] == 404
        watch.write_text(json.dumps({"state": "waiting", "host": "h", "pid": 7, "captures": 2, "last": "x"}))
        run, = ask(server, "profile/capture")[1]["watched"]
        assert (run["run"], run["state"], run["pid"], run["asked"]) == (".", "waiting", 7, False)
        for steps in (0, 1001):
            assert ask(server, "profile/request", "POST", {"run": ".", "steps": steps})[0] == 400
        assert ask(server, "profile/request", "POST", {"run": ".", "steps": 3})[0] == 202
        assert json.loads((tmp_path / "sonde_profile.request").read_text()) == {"steps": 3}
        assert ask(server, "profile/request", "POST", {"run": "."})[0] == 503
        for hostile in ("", "{", "[]", '{"state":5,"pid":"x","host":[]}', "x" * 100_000):
            watch.write_text(hostile)
            assert ask(server, "profile/capture")[0] == 200
