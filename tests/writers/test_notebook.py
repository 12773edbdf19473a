"""The notebook: notes of running servers, addresses behind proxies, and the page inside a real Jupyter page."""

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from sonde import notebook

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = Path(os.environ.get("SONDE_BINARY") or ROOT / "build" / "release" / "sonde")


@pytest.fixture
def notes(tmp_path, monkeypatch):
    """A temporary directory of our own, so that servers of the machine are not seen."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    folder = tmp_path / ".tensorboard-info"
    folder.mkdir()

    def note(pid, **fields):
        content = {
            "version": "2.21.0",
            "start_time": 1700000000,
            "pid": pid,
            "port": 6006,
            "path_prefix": "",
            "logdir": "/x",
            "db": "",
            "cache_key": "k",
        }
        (folder / f"pid-{pid}.info").write_text(json.dumps(content | fields))

    return note


def test_only_living_and_well_formed_notes_count(notes, capsys):
    notes(os.getpid(), port=7000)
    notes(2**22 - 5, port=7001)  # no such process
    notes(1, port="7002")
    assert [one.port for one in notebook.instances()] == [7000]
    notebook.list()
    assert "port 7000: logdir /x (started" in capsys.readouterr().out


def test_same_arguments_give_the_same_key(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = json.loads(base64.b64decode(notebook.cache_key(["--logdir", "a b"])))
    assert content == {"arguments": ["--logdir", "a b"], "configure_kwargs": {}, "working_directory": str(tmp_path)}


def test_display_without_servers(notes):
    with pytest.raises(ValueError, match="no known instances"):
        notebook.display()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"TENSORBOARD_PROXY_URL": "https://hub/user/x/proxy/%PORT%/"}, "https://hub/user/x/proxy/6006/"),
        ({"SONDE_PROXY_URL": "/p/%PORT%", "TENSORBOARD_PROXY_URL": "/other"}, "/p/6006/"),
        ({"VSCODE_PROXY_URI": "https://code.example/proxy/{{port}}/"}, "https://code.example/proxy/6006/"),
    ],
)
def test_proxies(monkeypatch, environment, expected):
    for name in ("SONDE_PROXY_URL", "TENSORBOARD_PROXY_URL", "VSCODE_PROXY_URI", "JUPYTERHUB_SERVICE_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert notebook.page_url(6006) == expected
    html = notebook.frame_html(6006, 500, "/prefix")
    assert 'height="500"' in html and ("given = null" in html) == (expected is None)
    assert "<details" in html and "sonde-shown" in html


def test_the_static_view(tmp_path, monkeypatch):
    import sonde
    from sonde import _notebook_static

    assert "not one folder" in _notebook_static.static_view("gs://bucket/logs")
    assert "no curves" in _notebook_static.static_view(str(tmp_path))
    for run in ("a<b>", "c"):
        with sonde.SummaryWriter(tmp_path / run) as w:
            for step in range(1000):
                w.add_scalar("loss", float("nan") if step == 3 else 1 / (step + 1), step)
            w.add_scalar("once", 2.0, 7)
    view = _notebook_static.static_view(str(tmp_path))
    assert view.count("<polyline") == 2 and view.count("<circle") == 2
    assert "a&lt;b&gt;" in view and "<b>" not in view
    assert "step 0 to 999" in view and view.count(",") < 500  # thinned, with the newest point
    monkeypatch.setattr(_notebook_static, "_MOST_ENTRIES", 1)
    assert "only the page can show it" in _notebook_static.static_view(str(tmp_path))


def test_failure_to_start_is_told(notes, monkeypatch):
    script = Path(os.environ["TMPDIR"]) / "broken"
    script.write_text("#!/bin/sh\necho nothing works >&2\nexit 3\n")
    script.chmod(0o755)
    monkeypatch.setenv("SONDE_BINARY", str(script))
    monkeypatch.setenv("TENSORBOARD_BINARY", "/bin/true")  # another program, never started
    said = notebook._launch(["--logdir", "x"], "key")
    assert said == "ERROR: Failed to launch Sonde (exited with 3).\nContents of stderr:\nnothing works"


@pytest.fixture
def started(notes):
    """Ends every server that left a note, by its pid."""
    yield
    for one in notebook.instances():
        if one.pid != os.getpid():
            os.kill(one.pid, signal.SIGTERM)


@pytest.mark.skipif(not PROGRAM.exists(), reason="build/release has no sonde")
def test_a_running_server_is_reused(notes, started, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SONDE_BINARY", str(PROGRAM))
    arguments = f"--logdir {tmp_path} --port 0"
    notebook.start(arguments)
    first = capsys.readouterr().out
    assert "Please visit http://localhost:" in first, first
    notebook.start(arguments + "  # again")
    assert "Reusing Sonde on port" in capsys.readouterr().out
    assert len(notebook.instances()) == 1
    notebook.display()
    assert "Selecting Sonde with logdir" in capsys.readouterr().out


@pytest.mark.skipif(not PROGRAM.exists(), reason="build/release has no sonde")
@pytest.mark.parametrize(
    ("arguments", "environment"),
    [("--host 127.0.0.2", {}), ("", {"SONDE_PROXY_URL": "https://hub.example/user/me/proxy/%PORT%/"})],
)
def test_a_server_behind_a_proxy_opens_with_the_token_of_the_cell(
    notes, started, tmp_path, monkeypatch, arguments, environment
):
    monkeypatch.setenv("SONDE_BINARY", str(PROGRAM))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    shown = []
    monkeypatch.setattr(notebook, "_show", lambda port, height, prefix, token: shown.append((port, token)))
    notebook.start(f"--logdir {tmp_path} --port 0 {arguments}")
    ((port, token),) = shown
    host = "127.0.0.2" if arguments else "127.0.0.1"

    def status(path):
        request = urllib.request.Request(f"http://{host}:{port}{path}", headers={"Host": "hub.example"})
        try:
            return urllib.request.urlopen(request).status
        except urllib.error.HTTPError as error:
            return error.code

    if environment:  # --host 127.0.0.2 is this machine still, so it asks for no token by itself
        assert status("/api/v1/info") in (401, 403)
    assert len(token) == 32 and status(f"/api/v1/info?token={token}") == 200
    assert f'"{token}"' in notebook.frame_html(port, 100, "", token)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_inside_jupyter(notes, started, tmp_path):
    pytest.importorskip("jupyterlab")
    node, browser = shutil.which("node"), os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not (node and browser and PROGRAM.exists() and (ROOT / "web/node_modules/playwright-core").exists()):
        pytest.skip("needs node, chromium, the page's packages and a built sonde")
    logs = tmp_path / "logs"
    import sonde

    with sonde.SummaryWriter(logs) as w:
        w.add_scalar("loss", 0.5, 1)
    cells = [f"%load_ext sonde\n%sonde --logdir {logs} --port 0\nfrom sonde import notebook; notebook.list()"]
    book = {
        "cells": [
            {"cell_type": "code", "id": f"c{i}", "metadata": {}, "outputs": [], "execution_count": None, "source": s}
            for i, s in enumerate(cells)
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (tmp_path / "book.ipynb").write_text(json.dumps(book))
    port = free_port()
    environment = os.environ | {
        "SONDE_BINARY": str(PROGRAM),
        "TMPDIR": str(tmp_path),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "HOME": str(tmp_path),
    }
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            "--allow-root",
            "--ip=127.0.0.1",
            f"--port={port}",
            "--ServerApp.port_retries=0",
            "--IdentityProvider.token=t",
            f"--ServerApp.root_dir={tmp_path}",
        ],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        run = subprocess.run(
            [
                node,
                str(Path(__file__).parent / "notebook.mjs"),
                f"http://127.0.0.1:{port}/lab/tree/book.ipynb?token=t",
                browser,
            ],
            cwd=ROOT / "web",
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert run.returncode == 0, run.stdout + run.stderr
        said = json.loads(run.stdout.splitlines()[-1])
        assert said["title"].startswith("Sonde") or "Sonde" in said["text"], said
        assert "Known Sonde instances" in said["listed"]
    finally:
        server.terminate()
        server.wait()
