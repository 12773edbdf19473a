"""The files of a release, made once: SONDE_DIST names a folder of files that were made before."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
VERSION = re.search(r"project\(sonde VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


@pytest.fixture(scope="session")
def dist(tmp_path_factory):
    if os.environ.get("SONDE_DIST"):
        return Path(os.environ["SONDE_DIST"])
    out = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, ROOT / "tools/release", VERSION, "--out", out], check=True)
    return out
