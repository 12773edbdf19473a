"""On the package index `sonde` is another project: beside it this one says what is wrong instead of failing somewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def test_a_package_without_its_native_module_says_how_to_mend_it(tmp_path):
    (tmp_path / "sonde").mkdir()
    (tmp_path / "sonde/__init__.py").write_text((ROOT / "python/sonde/__init__.py").read_text())
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    run = subprocess.run([sys.executable, "-c", "import sonde"], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert run.returncode == 1
    assert run.stderr.rstrip().endswith("Mend it with: pip install --force-reinstall sonde-board")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    from sonde import _program

    monkeypatch.delenv("SONDE_BINARY", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(_program.sysconfig, "get_path", lambda *_: str(tmp_path))
    monkeypatch.setattr(_program.sys, "executable", str(tmp_path / "python"))
    return tmp_path


def put(folder, data: bytes) -> Path:
    path = folder / "sonde"
    path.write_bytes(data)
    path.chmod(0o755)
    return path


def test_a_script_of_another_project_is_not_started(folder):
    from sonde import _program

    path = put(folder, b"#!/usr/bin/python3\nimport other\n")
    with pytest.raises(FileNotFoundError, match=f"{path} is the program of another project that is called sonde; pip uninstall sonde"):
        _program.program()


def test_the_native_program_is_found(folder):
    from sonde import _program

    path = put(folder, b"\x7fELF")
    assert _program.program() == str(path)


def test_no_program_at_all(folder):
    from sonde import _program

    with pytest.raises(FileNotFoundError, match="not installed beside this package"):
        _program.program()
