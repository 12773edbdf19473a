"""`--index_dir`: the second start uses what the first one found; whatever happens to an index costs time only."""

import hashlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from event_files import event_file, scalar_file
from sonde_server import PROGRAM, Server


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    body = event_file(120_000)
    for run in ("a", "b"):
        (folder / run).mkdir()
        (folder / run / "events.out.tfevents.1").write_bytes(body)
    return folder


def answers(server):
    return [server.json(f"/data/plugin/scalars/scalars?run={run}&tag=loss") for run in ("a", "b")]


def export(logs, *flags):
    run = subprocess.run([PROGRAM, "export", str(logs), *flags], capture_output=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return hashlib.sha256(run.stdout).hexdigest()


def test_answers_are_the_same_with_and_without_an_index(logs, tmp_path):
    plain = export(logs)
    with Server(logs) as server:
        wanted = answers(server)
    for _ in range(3):
        assert export(logs, "--index_dir", str(tmp_path / "index")) == plain
        with Server(logs, None, "--index_dir", str(tmp_path / "index")) as server:
            assert answers(server) == wanted
    assert len(list((tmp_path / "index").iterdir())) == 2
    assert not (logs / "a/.sonde").exists()


def test_beside_the_logs(logs, tmp_path):
    plain = export(logs)
    assert export(logs, "--index") == plain
    assert len(list((logs / "a/.sonde/index").iterdir())) == 1
    assert export(logs, "--index") == plain
    with Server(logs) as server:
        assert server.json("/data/runs") == ["a", "b"]  # an index is no run


def test_one_that_is_there_is_used_without_being_asked_for_and_none_is_made(tmp_path):
    (tmp_path / "r").mkdir()
    (tmp_path / "r/events.out.tfevents.1").write_bytes(event_file(120_000))
    plain = export(tmp_path)
    assert not (tmp_path / "r/.sonde").exists()
    assert export(tmp_path, "--index") == plain
    index = next((tmp_path / "r/.sonde/index").iterdir())
    with Server(tmp_path) as server:
        assert len(server.json("/data/plugin/scalars/scalars?run=r&tag=loss")) > 0
        assert str(index) in Path(f"/proc/{server.process.pid}/maps").read_text()
    assert export(tmp_path) == plain


def test_killed_while_it_is_written(logs, tmp_path):
    plain, index = export(logs), tmp_path / "index"
    draw = random.Random(1)
    for _ in range(int(os.environ.get("SONDE_KILLS", "15"))):
        for path in index.glob("*.index") if index.exists() else []:
            path.unlink()
        process = subprocess.Popen([PROGRAM, "export", str(logs), "--index_dir", str(index), "-o", "/dev/null"])
        time.sleep(draw.uniform(0.005, 0.15))
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert export(logs, "--index_dir", str(index)) == plain


def test_two_servers_on_one_index(logs, tmp_path):
    flags = ("--index_dir", str(tmp_path / "index"))
    with Server(logs, None, *flags) as first, Server(logs, None, *flags) as second:
        assert answers(first) == answers(second)
    assert not list((tmp_path / "index").glob("*.new.*"))


def test_a_flipped_byte_is_noticed_wherever_it_is(logs, tmp_path):
    plain, index = export(logs), tmp_path / "index"
    assert export(logs, "--index_dir", str(index)) == plain
    draw = random.Random(2)
    for path in sorted(index.iterdir()):
        good = path.read_bytes()
        places = [0, 4, 8, 16, 32, 64, len(good) - 1, *(draw.randrange(len(good)) for _ in range(12))]
        for place in places:
            bad = bytearray(good)
            bad[place] ^= 1 << draw.randrange(8)
            path.write_bytes(bad)
            assert export(logs, "--index_dir", str(index)) == plain, place
        for size in (0, 1, 63, len(good) // 2, len(good) - 1):
            path.write_bytes(good[:size])
            assert export(logs, "--index_dir", str(index)) == plain, size
        path.write_bytes(good)


def test_a_rewrite_of_the_same_size_is_noticed(tmp_path):
    """The same size, the same last bytes, even the same time: another value in the middle, and a run that was copied over another."""
    (tmp_path / "logs/r").mkdir(parents=True)
    file, flags = tmp_path / "logs/r/events.out.tfevents.1", ("--index_dir", str(tmp_path / "index"))
    file.write_bytes(event_file(120_000))
    export(tmp_path / "logs", *flags)
    before, size = file.stat(), file.stat().st_size
    other = scalar_file(["lass"], 120_000)
    assert len(other) == size
    file.write_bytes(other)
    assert export(tmp_path / "logs", *flags) == export(tmp_path / "logs")
    file.write_bytes(event_file(120_000))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert export(tmp_path / "logs", *flags) == export(tmp_path / "logs")
