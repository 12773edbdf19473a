#!/usr/bin/env python3
"""The tests of S3 against MinIO, a server that compares signatures and does without moto's kindnesses.

    tests/scale/minio.py [pytest's arguments]

MINIO names its program; otherwise one on the PATH is used, or it is built by `go install`, which takes a quarter of an hour the first time.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# The last release of the server whose source can be installed this way.
SOURCE = "github.com/minio/minio@latest"


def program():
    """Path of the server; None, having said why, when it cannot be had."""
    if found := os.environ.get("MINIO") or shutil.which("minio"):
        return found
    place = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "sonde-tests"
    if (place / "minio").exists():
        return str(place / "minio")
    if not shutil.which("go"):
        print("skipped: [1] MinIO is not installed and there is no Go to build it with")
        return None
    build = subprocess.run(["go", "install", SOURCE], env=os.environ | {"GOBIN": str(place)}, capture_output=True, text=True)
    if build.returncode == 0:
        return str(place / "minio")
    print(build.stderr[-2000:])
    print("skipped: [1] MinIO could not be built by `go install`")
    return None


if found := program():
    tests = [str(HERE / name) for name in ("test_s3.py", "test_store_files.py")]
    sys.exit(subprocess.run([sys.executable, "-m", "pytest", "-q", *tests, *sys.argv[1:]], env=os.environ | {"SONDE_TEST_MINIO": found}).returncode)
