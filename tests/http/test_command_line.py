"""The command line from outside: exit codes, one-sentence errors, ports, signals, the registry of instances."""

import base64
import contextlib
import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from server import SONDE, Server, running, until


def sonde(*args, **options):
    return subprocess.run([SONDE, *args], capture_output=True, text=True, timeout=30, **options)


def test_help_and_version():
    for args in (["--help"], ["-h"], ["help"], ["serve", "--help"], []):
        done = sonde(*args)
        assert done.returncode == 0 and "sonde logs/" in done.stdout and done.stderr == ""
    for args in (["--version"], ["--version_tb"], ["version"]):
        assert sonde(*args).stdout.strip().count(".") == 2


@pytest.mark.parametrize("args, code, part", [
    (["--nosuch"], 2, "unknown flag --nosuch"),
    (["--logdir"], 2, "expected one argument"),
    (["--port", "x", "--logdir", "a"], 2, "--port"),
    (["inspekt"], 2, "neither a command nor a directory"),
    (["no/such/place"], 1, "there is no directory"),
    (["--port", "0"], 1, "give a log directory"),
    (["--logdir", "a", "--logdir_spec", "b:c"], 1, "not both"),
    (["--logdir", ".", "--port", "99999"], 255, "65535"),
    (["--logdir", ".", "--host", "no.such.host.invalid"], 255, "--host"),
    (["--logdir", ".", "--certfile", "none.pem", "--keyfile", "none.pem"], 1, "--certfile none.pem"),
])
def test_wrong_command_lines(args, code, part, tmp_path):
    done = sonde(*args, cwd=tmp_path)
    assert done.returncode == code
    assert part in done.stderr and done.stderr.startswith("sonde: ") and done.stderr.count("\n") == 1


def test_a_file_is_not_a_directory(tmp_path):
    (tmp_path / "x").write_text("")
    done = sonde("--logdir", str(tmp_path / "x"))
    assert done.returncode == 1 and "is a file" in done.stderr


def test_port_in_use(tmp_path):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as other:
        port = other.getsockname()[1]
        done = sonde("--logdir", str(tmp_path), "--port", str(port))
        assert done.returncode == 255 and f"port {port} is already in use" in done.stderr


def test_missing_directory_is_waited_for(tmp_path):
    with running(logdir=tmp_path / "later") as server:
        assert any("waiting for it to appear" in line for line in server.log)
        assert server.ask("/healthz").status == 200


def test_obsolete_flags_are_explained_once():
    with running("--load_fast", "true", "--load_fast=false") as server:
        assert sum("--load_fast" in line for line in server.log) == 1


@pytest.mark.parametrize("with_signal", [signal.SIGTERM, signal.SIGINT])
def test_signals_end_it_and_the_registry_is_kept(with_signal):
    server = Server("--path_prefix", "/p")
    file = Path(server.temporary.name) / ".tensorboard-info" / f"pid-{server.process.pid}.info"
    info = json.loads(file.read_text())
    assert set(info) == {"cache_key", "db", "logdir", "path_prefix", "pid", "port", "start_time", "version"}
    assert (info["pid"], info["port"], info["logdir"], info["path_prefix"]) == (server.process.pid, server.port, server.logdir, "/p")
    key = json.loads(base64.b64decode(info["cache_key"]))
    assert key == {"arguments": ["--logdir", server.logdir, "--port", "0", "--path_prefix", "/p"], "configure_kwargs": {},
                   "working_directory": os.getcwd()}
    server.process.send_signal(with_signal)
    assert server.process.wait(timeout=20) == 0
    assert not file.exists()
    server.stop()


def test_tensorboards_manager_reads_the_registry():
    manager = pytest.importorskip("tensorboard.manager")
    server = Server()
    try:
        file = Path(server.temporary.name) / ".tensorboard-info" / f"pid-{server.process.pid}.info"
        assert manager._info_from_string(file.read_text()).port == server.port
    finally:
        assert server.stop() == 0


def test_hangup_rescans_and_serves_on():
    with running() as server:
        server.process.send_signal(signal.SIGHUP)
        until(lambda: server.ask("/healthz").status == 200)
        assert server.process.poll() is None
