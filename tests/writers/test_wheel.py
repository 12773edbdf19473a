"""`pip install .` gives one wheel for all Pythons from 3.10 on, with the program on PATH and typed modules."""

import json
import os
import re
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SONDE_BINARY")}
    given = os.environ.get("SONDE_PROGRAM")  # a program built before saves building it again
    short = (
        [
            f"--config-settings=cmake.define.SONDE_PROGRAM={given}",
            "--config-settings=cmake.define.SONDE_WEB=OFF",
            "--config-settings=build.targets=_sonde",
        ]
        if given
        else []
    )
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), *short, str(ROOT)],
        check=True,
        env=environment,
    )
    (wheel,) = folder.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    subprocess.run([str(folder / "venv/bin/pip"), "install", "--quiet", str(wheel)], check=True, env=environment)
    return wheel, folder / "venv/bin", environment


def test_wheel(installed, tmp_path):
    wheel, programs, environment = installed
    assert "-cp310-abi3-" in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert {"sonde/py.typed", "sonde/_sonde.pyi", "sonde/_sonde.abi3.so"} <= set(names)
    assert any(name.endswith(".data/scripts/sonde") for name in names)
    for command in ([programs / "sonde", "--version"], [programs / "python", "-m", "sonde", "--version"]):
        assert subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()
    code = f"import sonde; w = sonde.SummaryWriter({str(tmp_path)!r}); w.add_scalar('a', 1, 1); w.close()"
    subprocess.run([programs / "python", "-c", code], check=True, env=environment)
    out = subprocess.run(
        [programs / "sonde", "inspect", tmp_path, "--json"], check=True, capture_output=True, text=True, env=environment
    ).stdout
    assert json.loads(out)["runs"]["."]


def test_the_program_of_the_wheel_serves_the_page(installed, tmp_path):
    if os.environ.get("SONDE_PROGRAM"):
        pytest.skip("a program built before may have no page")
    _, programs, environment = installed
    server = subprocess.Popen(
        [programs / "sonde", "--logdir", tmp_path, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )
    try:
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
        page = urllib.request.urlopen(address).read().decode()
        (script,) = re.findall(r'<script type="module"[^>]* src="\./([^"]+)"', page)
        assert "Sonde" in page and len(urllib.request.urlopen(address + script).read()) > 10_000
    finally:
        server.terminate()
        server.wait()
