"""Whatever Sonde opens may be no file, or may change while it is read: the server lives and answers all the same.

The directory is the demo, which holds one of everything that the program reads, and a file of each other tracker."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import threading

import pytest
from server import ROOT, SONDE, running, until

MORE = [
    "wandb/run-1/run-1.wandb", "mlruns/0/meta.yaml", "mlflow.db", "trackio/project.db", "csv/metrics.csv", "hf/trainer_state.json", "rows/rollouts.jsonl",
    "run/config.yaml", "run/hparams.yaml", "run/sonde_run.json", "alerts.yaml", "whatif.json", "embedding/projector_config.pbtxt", "embedding/checkpoint",
    "graph.pbtxt", "run/plugins/profile/one/host.xplane.pb", "run/plugins/profile/one/host.memory_profile.json", "run/plugins/profile/two/host.pt.trace.json.gz",
    "dump/tfdbg_events.1700000000.host.metadata", "dump/tfdbg_events.1700000000.host.graphs", "torch/debug_mode.json", ".sonde/sidecar.json",
]
SESSION = "session=run%2Fone&run=run&name=one&path=x&id=0&tag=x&step=0"
TARGETS = sorted({f"{target}?{SESSION}" for source in (ROOT / "src/api").rglob("*.cc") for target in re.findall(r'{"GET", "(/(?:api/v1|data)[^"*]*)"', source.read_text())
                  if not target.endswith(("events", "stream"))})
COMMANDS = [["inspect"], ["profile"], ["numerics"], ["export"], ["--inspect", "--logdir"]]


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd") / "demo"
    subprocess.run([SONDE, "demo", str(folder)], check=True, capture_output=True, timeout=300)
    for name in MORE:
        file = folder / name
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"x")
    return folder


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def make(kind, path):
    path.unlink()
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        # Not where the name is too long for a socket.
        with contextlib.chdir(path.parent), contextlib.closing(socket.socket(socket.AF_UNIX)) as one, contextlib.suppress(OSError):
            one.bind(path.name)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "empty":
        path.touch()
    else:
        path.symlink_to({"device": "/dev/zero", "proc": "/proc/self/mem", "endless": "/proc/kmsg"}[kind])


@pytest.mark.parametrize("kind", ["fifo", "socket", "folder", "loop", "empty", "device", "proc", "endless"])
def test_nothing_waits_for_what_is_no_file(demo, tmp_path, kind):
    folder = tmp_path / "logs"
    shutil.copytree(demo, folder)
    for path in files_of(folder):
        make(kind, path)
    good = folder / "good"
    good.mkdir()
    shutil.copy(next(path for path in files_of(demo) if "tfevents" in path.name), good)
    for command in COMMANDS:
        run = subprocess.run([SONDE, *command, str(folder)], capture_output=True, text=True, errors="replace", timeout=60, stdin=subprocess.DEVNULL)
        assert run.returncode >= 0, (command, run.stderr[-2000:])
    with running(logdir=folder) as server:
        until(lambda: '"good"' in server.ask("/api/v1/runs").text, 60)
        for target in TARGETS:
            reply = server.ask(target)
            assert reply is not None and reply.status in (200, 400, 404, 413, 422, 500), (target, reply and reply.text)
        assert server.rss_mb() < 500


def test_files_that_change_under_a_reader(demo, tmp_path):
    """Cut, grown, taken away and put back, unreadable, replaced by a folder: while everything is asked."""
    folder = tmp_path / "logs"
    shutil.copytree(demo, folder)
    paths = [(path, path.read_bytes()) for path in files_of(folder)]
    stop = threading.Event()

    def disturb():
        round_ = 0
        while not stop.is_set():
            for number, (path, content) in enumerate(paths):
                with contextlib.suppress(OSError):
                    match (round_ + number) % 6:
                        case 0:
                            os.truncate(path, len(content) // 2)
                        case 1:
                            path.write_bytes(content + content[:100])
                        case 2:
                            path.unlink()
                        case 3:
                            path.write_bytes(content)
                            path.chmod(0)
                        case 4:
                            path.unlink()
                            path.mkdir()
                        case 5:
                            path.rmdir()
                            path.write_bytes(content)
                if stop.is_set():
                    break
            round_ += 1

    with running("--reload_interval", "1", logdir=folder) as server:
        disturber = threading.Thread(target=disturb)
        disturber.start()
        try:
            for _ in range(12):
                for target in TARGETS:
                    reply = server.ask(target)
                    assert reply is not None and reply.status < 600 and server.process.poll() is None, target
        finally:
            stop.set()
            disturber.join()
        for path, content in paths:  # whole again: everything is read
            if path.is_dir():
                path.rmdir()
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
            path.write_bytes(content)
        until(lambda: server.ask("/api/v1/runs").status == 200)
        assert server.rss_mb() < 800
