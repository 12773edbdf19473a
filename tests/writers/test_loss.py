"""Nothing that was flushed is lost, whatever happens to the process or the disk, and training never dies of logging."""

import os
import random
import resource
import signal
import subprocess
import sys
import time

import pytest

import sonde
from events import files, read

KILLS = int(os.environ.get("SONDE_KILLS", "12"))

# Logs as fast as it can; after each flush says how much must be on disk.
VICTIM = """
import sys, sonde
w = sonde.SummaryWriter(sys.argv[1])
step = 0
while True:
    for _ in range(int(sys.argv[2])):
        w.add_scalar("loss", step, step)
        step += 1
    w.flush()
    print(step, flush=True)
"""


def steps(folder):
    """Steps of all records before the first damage, per file; checks that nothing but a torn tail can follow."""
    out = []
    for paths in files(folder).values():
        for path in paths:
            out += [e.step for e in read(path) if e.WhichOneof("what") == "summary"]
    return out


def test_kill_9_at_random_moments(tmp_path):
    rng = random.Random(1)
    for kill in range(KILLS):
        folder = tmp_path / str(kill)
        child = subprocess.Popen(
            [sys.executable, "-c", VICTIM, str(folder), str(rng.choice([1, 100, 20000]))],
            stdout=subprocess.PIPE,
            text=True,
        )
        child.stdout.readline()
        time.sleep(rng.random() * 0.05)
        child.send_signal(signal.SIGKILL)
        said = [int(line) for line in child.communicate()[0].split() if line.strip()]
        promised = said[-1] if said else 1
        found = steps(folder)
        assert found[:promised] == list(range(promised)), f"kill {kill}: {promised} promised, {len(found)} found"
        assert found == list(range(len(found)))
        ours = sonde.load(folder)[".", "loss"]
        assert len(ours) == len(found)


def test_what_was_handed_over_a_second_ago_survives_kill_9(tmp_path):
    code = "import sys, time, sonde; w = sonde.SummaryWriter(sys.argv[1]); [w.add_scalar('a', i, i) for i in range(5000)]; print(1, flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    child.stdout.readline()
    deadline = time.monotonic() + 20
    while len(steps(tmp_path)) < 5000 and time.monotonic() < deadline:
        time.sleep(0.05)
    child.kill()
    child.wait()
    assert len(steps(tmp_path)) == 5000


def limited(code, *args, limit=None):
    def prepare():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        preexec_fn=prepare,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_file_size_limit_starts_a_new_file(tmp_path):
    code = """
import signal, sys, sonde
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it; a C++ program would not
w = sonde.SummaryWriter(sys.argv[1])
for i in range(20000): w.add_scalar("a", i, i)
w.close()
"""
    run = limited(code, tmp_path, limit=100_000)
    assert run.returncode == 0, run.stderr
    assert sorted(steps(tmp_path)) == list(range(20000))
    assert len(files(tmp_path)["."]) > 5


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_keeps_records_until_there_is_room(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k", "sonde-test", str(disk)], capture_output=True, check=False
        ).returncode
        != 0
    ):
        pytest.skip("no permission to mount")
    try:
        ballast = disk / "ballast"
        ballast.write_bytes(b"x" * 150_000)
        w = sonde.SummaryWriter(disk / "run")
        for i in range(4000):
            w.add_scalar("a", i, i)  # 200 kB
        w.flush()
        assert "No space left" in w._writer.problem
        before = steps(disk)
        assert before == list(range(len(before))) and len(before) < 4000
        ballast.unlink()
        w.flush()
        assert w._writer.problem == "" and steps(disk) == list(range(4000))
        w.close()
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)  # a failed test leaves the file open


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a read-only disk needs root")
def test_a_read_only_directory_is_two_lines_on_stderr(tmp_path):
    if (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "ro,size=64k", "sonde-test", str(tmp_path)], capture_output=True, check=False
        ).returncode
        != 0
    ):
        pytest.skip("no permission to mount")
    try:
        code = "import sys, sonde; w = sonde.Writer(sys.argv[1] + '/run'); [w.scalar('a', i, i) for i in range(1000)]; print(w.flush(), bool(w.problem))"
        run = limited(code, tmp_path)
        assert run.returncode == 0, run.stderr
        assert run.stdout.split() == ["False", "True"] and run.stderr.count("sonde: logging:") == 2
        assert "1000 records lost, first at step 0: " in run.stderr  # said when it happens, and what it cost at the end
    finally:
        subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def test_a_removed_directory_comes_back(tmp_path):
    import shutil

    with sonde.SummaryWriter(tmp_path / "run") as w:
        w.add_scalar("a", 0, 0)
        w.flush()
        shutil.rmtree(tmp_path / "run")
        for i in range(1, 100):
            w.add_scalar("a", i, i)
    assert steps(tmp_path) == list(range(1, 100))


def test_two_processes_in_one_directory(tmp_path):
    code = "import sys, sonde; w = sonde.SummaryWriter(sys.argv[1]); [w.add_scalar(sys.argv[2], i, i) for i in range(3000)]; w.close()"
    children = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name]) for name in "ab"]
    assert [child.wait() for child in children] == [0, 0]
    log = sonde.load(tmp_path)
    assert [len(log[".", name]) for name in "ab"] == [3000, 3000] and not log.damage
