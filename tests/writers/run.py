"""Builds the Python package into build/python and runs the tests of the writers with pytest.

Tests that need torch, TensorFlow or Jupyter skip here; slow.py runs them where those are installed.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "python"


def build(python):
    if not (BUILD / "build.ninja").exists():
        ccache = f"cmake;-E;env;CCACHE_BASEDIR={ROOT};CCACHE_NOHASHDIR=1;ccache"
        subprocess.run(
            [
                "cmake",
                "-S",
                str(ROOT),
                "-B",
                str(BUILD),
                "-G",
                "Ninja",
                "-DCMAKE_BUILD_TYPE=Release",
                "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG",
                "-DSONDE_WEB=OFF",
                "-DSONDE_TESTS=OFF",
                "-DSONDE_PYTHON=ON",
                f"-DPython_EXECUTABLE={python}",
                f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    subprocess.run(["cmake", "--build", str(BUILD), "--target", "_sonde", "--", "--quiet"], check=True)


def main():
    build(sys.executable)
    tests = [str(ROOT / "tests" / "writers")]
    environment = os.environ | {
        "PYTHONPATH": str(BUILD / "python"),
        "SONDE_BINARY": str(ROOT / "build" / "release" / "sonde"),
        # The wheel's own build reuses the program and the compiler's cache.
        "SONDE_PROGRAM": str(ROOT / "build" / "release" / "sonde"),
        "CC": "cc",
        "CXX": "c++",
        "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_NOHASHDIR": "1",
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", "--no-header", "--tb=short", "-p", "no:cacheprovider", *tests, *sys.argv[1:]],
        env=environment,
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
