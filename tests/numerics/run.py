"""Builds the Python package and runs the tests of numerics, each in a process of its own: frameworks do not share one well.

Needs torch, JAX, TensorFlow and Keras in the interpreter $SONDE_ML_PYTHON (this one unless given); `./test --all` runs it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "writers"))
import run as writers


def main():
    writers.build(sys.executable)
    python = os.environ.get("SONDE_ML_PYTHON", sys.executable)
    lacks = subprocess.run([python, "-c", "import torch, jax, tensorflow, keras"], capture_output=True, text=True)
    if lacks.returncode:
        print(f"torch, JAX, TensorFlow and Keras are needed (SONDE_ML_PYTHON): {lacks.stderr.strip().splitlines()[-1]}")
        print("0 passed, 1 failed")
        return 1
    import nanobind_backend

    paths = [writers.BUILD / "python", Path(nanobind_backend.__file__).parent.parent]
    extra = ROOT / "build" / "numerics_path"  # only that one package of this interpreter
    extra.mkdir(parents=True, exist_ok=True)
    link = extra / "nanobind_backend"
    if not link.exists():
        link.symlink_to(Path(nanobind_backend.__file__).parent)
    environment = os.environ | {"PYTHONPATH": f"{paths[0]}{os.pathsep}{extra}"}
    environment.setdefault("SONDE_BINARY", str(ROOT / "build" / "release" / "sonde"))
    passed = failed = 0
    commands = [["-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)] for path in sorted(HERE.glob("test_*.py"))]
    for command in [*commands, [str(HERE / "programs.py")]]:
        done = subprocess.run([python, *command], env=environment, capture_output=True, text=True)
        counts = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|error)", done.stdout.strip().splitlines()[-1])}
        bad = counts.get("failed", 0) + counts.get("error", 0)
        if done.returncode and not bad:
            bad = 1
        if bad:
            print(done.stdout[-5000:], done.stderr[-2000:])
        passed += counts.get("passed", 0)
        failed += bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
