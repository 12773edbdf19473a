"""Stores that are written to: logging to s3://, `sonde sync`, and what lies beside the logs (captures, checkpoints, sprites, tables)."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time

from event_files import event_file
from sonde_server import PROGRAM, ROOT, Server
from test_s3 import SECRET, Faulty, environment, sonde, upload

LIBRARY = PROGRAM.parent / "libsonde.so.0"
CAPTURE = ROOT / "tests/data/profile/torch_gloo_2ranks.worker0.pt.trace.json.gz"
# A training program over the C interface: logs what it is told, line by line.
WRITER = textwrap.dedent("""
    import ctypes, os, sys
    log = ctypes.CDLL(sys.argv[1])
    log.sonde_open.restype = ctypes.c_void_p
    log.sonde_scalar.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int64, ctypes.c_double]
    log.sonde_flush.argtypes = [ctypes.c_void_p, ctypes.c_int]
    log.sonde_close.argtypes = [ctypes.c_void_p]
    writer = log.sonde_open(sys.argv[2].encode(), None)
    step = 0
    for line in sys.stdin:
        word, _, number = line.strip().partition(" ")
        if word == "points":
            for _ in range(int(number)):
                log.sonde_scalar(writer, b"loss", 4, step, float(step))
                step += 1
        elif word == "fork":
            if os.fork() == 0:
                log.sonde_scalar(writer, b"child", 5, 0, 1.0)
                log.sonde_close(writer)
                os._exit(0)
            os.wait()
        elif word == "close":
            log.sonde_close(writer)
        log.sonde_flush(writer, 0) if word != "close" else None
        print("done", word, flush=True)
""")


class Program:
    def __init__(self, address, env):
        self.process = subprocess.Popen([sys.executable, "-c", WRITER, LIBRARY, address], env=env, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def do(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline().startswith("done")

    def end(self):
        self.process.stdin.close()
        self.process.wait(120)
        return self.process.stderr.read()


def writing(endpoint, tmp_path, wait="60"):
    return environment(endpoint, tmp_path / "cache") | {"SONDE_OUTBOX_DIR": str(tmp_path / "outbox"), "SONDE_UPLOAD_SECONDS": "0.2",
                                                        "SONDE_UPLOAD_WAIT": wait}


def points(folder, tmp_path, env):
    """Steps of the tag loss in a folder of the bucket, as Sonde reads them back."""
    run = subprocess.run([PROGRAM, "export", f"s3://logs/{folder}", "--tags", "loss", "--format", "csv"], capture_output=True, text=True, timeout=60,
                         env=env | {"SONDE_CACHE_DIR": str(tmp_path / f"cache{time.monotonic_ns()}")})
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    at = lines[0].split(",").index("step")
    return [int(line.split(",")[at]) for line in lines[1:]]


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def objects(client, prefix):
    return {one["Key"]: one["Size"] for one in client.list_objects_v2(Bucket="logs", Prefix=prefix).get("Contents", [])}


def test_a_run_is_logged_to_a_bucket_and_seen_while_it_runs(store, client, tmp_path):
    env = writing(store, tmp_path)
    program = Program("s3://logs/written/run1", env)
    program.do("points 100")
    wait_for(lambda: any(objects(client, "written/run1/").values()))
    wait_for(lambda: points("written", tmp_path, env) == list(range(100)))
    program.do("points 50")
    program.do("close")
    assert points("written", tmp_path, env) == list(range(150))
    assert program.end() == ""
    assert len(objects(client, "written/run1/")) == 1 and not list((tmp_path / "outbox").iterdir())


def test_a_file_that_grows_sends_only_what_is_new(store, client, tmp_path):
    relay = Faulty(store)
    env = writing(relay.url, tmp_path)
    program = Program("s3://logs/large_run", env)
    count = 0
    while sum(objects(client, "large_run/").values()) < 9 << 20:
        program.do("points 20000")
        count += 20000
        time.sleep(0.1)
    time.sleep(0.5)  # whatever was under way
    before = relay.sent
    program.do("points 1000")
    program.do("close")
    assert relay.sent - before < 3 << 20, "the whole object was sent again"
    assert points("large_run", tmp_path, env) == list(range(count + 1000))
    assert program.end() == ""
    relay.shutdown()


def test_nothing_flushed_is_lost_when_the_network_goes(store, client, tmp_path):
    relay = Faulty(store)
    env = writing(relay.url, tmp_path, wait="1")
    program = Program("s3://logs/offline", env)
    program.do("points 30")
    wait_for(lambda: objects(client, "offline/"))
    relay.is_down = True
    program.do("points 70")
    program.do("close")
    said = program.end()
    assert "sonde sync --pending" in said and SECRET not in said
    assert len(list((tmp_path / "outbox").iterdir())) == 1
    relay.is_down = False
    code, said = sonde("sync", "--pending", env=env)
    assert code == 0 and "s3://logs/offline" in said
    assert points("offline", tmp_path, env) == list(range(100))
    assert not list((tmp_path / "outbox").iterdir())
    assert sonde("sync", "--pending", env=env)[0] == 0
    relay.shutdown()


def test_a_killed_program_leaves_what_it_flushed(store, client, tmp_path):
    relay = Faulty(store)
    relay.is_down = True
    env = writing(relay.url, tmp_path)
    program = Program("s3://logs/killed", env)
    program.do("points 500")
    program.process.send_signal(signal.SIGKILL)
    program.process.wait()
    relay.is_down = False
    assert sonde("sync", "--pending", env=env)[0] == 0
    assert points("killed", tmp_path, env) == list(range(500))
    relay.shutdown()


def test_a_child_writes_and_uploads_a_file_of_its_own(store, client, tmp_path):
    env = writing(store, tmp_path)
    program = Program("s3://logs/forked", env)
    program.do("points 10")
    program.do("fork 1")
    program.do("points 10")
    program.do("close")
    assert program.end() == ""
    assert points("forked", tmp_path, env) == list(range(20)) and len(objects(client, "forked/")) == 2


def test_sync_copies_both_ways_and_only_what_changed(store, client, tmp_path):
    env = environment(store, tmp_path / "cache")
    source = tmp_path / "logs"
    (source / "a/plugins").mkdir(parents=True)
    (source / "a/events.out.tfevents.1").write_bytes(event_file(50))
    (source / "a/plugins/notes ü.txt").write_bytes(b"beside")
    (source / "a/large.bin").write_bytes(os.urandom(18 << 20))
    code, said = sonde("sync", str(source), "s3://logs/copied", env=env)
    assert code == 0 and said.startswith("3 files"), said
    assert sonde("sync", str(source), "s3://logs/copied", env=env)[1].startswith("0 files")
    assert sonde("sync", "s3://logs/copied", "s3://logs/copied2", env=env)[1].startswith("3 files")
    code, said = sonde("sync", "s3://logs/copied2", str(tmp_path / "back"), env=env)
    assert code == 0 and said.startswith("3 files"), said
    for path in source.rglob("*"):
        assert not path.is_file() or (tmp_path / "back" / path.relative_to(source)).read_bytes() == path.read_bytes()
    assert sonde("sync", "s3://logs/copied2", str(tmp_path / "back"), env=env)[1].startswith("0 files")
    (source / "a/events.out.tfevents.1").write_bytes(event_file(60))
    assert sonde("sync", str(source), "s3://logs/copied", env=env)[1].startswith("1 file,")
    for wrong in (["sync", "a"], ["sync", str(source), str(tmp_path / "x")], ["sync", str(source), "hdfs://x/y"]):
        assert sonde(*wrong, env=env)[0] != 0


def test_captures_and_tables_in_a_bucket(store, client, tmp_path):
    logs = tmp_path / "logs"
    (logs / "r/plugins/profile/s1").mkdir(parents=True)
    shutil.copy(CAPTURE, logs / "r/plugins/profile/s1/host0.pt.trace.json.gz")
    (logs / "r/events.out.tfevents.1").write_bytes(event_file(5))
    (logs / "r/tables").mkdir()
    (logs / "r/tables/samples.jsonl").write_text('{"step": 1, "text": "one"}\n{"step": 2, "text": "two"}\n')
    (logs / "r/projector_config.pbtxt").write_text('embeddings { tensor_name: "e" tensor_path: "e.tsv" metadata_path: "m.tsv" }')
    (logs / "r/e.tsv").write_text("1\t2\n3\t4\n5\t6\n")
    (logs / "r/m.tsv").write_text("one\ntwo\nthree\n")
    upload(client, logs, "beside")
    env = environment(store, tmp_path / "cache")
    asked = ["/api/v1/profile/sessions", "/api/v1/tables", "/api/v1/embeddings", "/data/plugin/projector/runs",
             "/data/plugin/projector/tensor?run=r&name=e", "/data/plugin/projector/metadata?run=r&name=e"]
    with Server(logs) as disk, Server("s3://logs/beside", env) as remote:
        reads = remote.metric("sonde_remote_bytes_total")
        for path in asked:
            answers = [server.get(path) for server in (remote, disk)]
            if path.endswith("sessions"):  # without the bucket's own time
                answers = [[{**one, "start": 0} for one in json.loads(answer)] for answer in answers]
            assert answers[0] == answers[1], path
        assert remote.metric("sonde_remote_bytes_total") - reads < CAPTURE.stat().st_size, "a capture was fetched before somebody looked"
        session = remote.json("/api/v1/profile/sessions")[0]["id"]
        question = f"/api/v1/profile/report?session={session}&tool=overview_page"
        assert remote.json(question) == disk.json(question)
        assert remote.metric("sonde_remote_bytes_total") - reads > CAPTURE.stat().st_size
    code, said = sonde("profile", "s3://logs/beside/r/plugins/profile/s1", env=env)
    assert code == 0, said

