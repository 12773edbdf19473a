"""Builds the Python package and runs real_models.py in $SONDE_ML_PYTHON (this interpreter unless given). Slow: ./test --all."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "writers"))
import run as writers


def main():
    writers.build(sys.executable)
    import nanobind_backend

    extra = ROOT / "build" / "whatif_path"  # only that one package of this interpreter
    extra.mkdir(parents=True, exist_ok=True)
    link = extra / "nanobind_backend"
    if not link.exists():
        link.symlink_to(Path(nanobind_backend.__file__).parent)
    python = os.environ.get("SONDE_ML_PYTHON", sys.executable)
    environment = os.environ | {"PYTHONPATH": f"{writers.BUILD / 'python'}{os.pathsep}{extra}"}
    environment.setdefault("SONDE_BINARY", str(ROOT / "build" / "release" / "sonde"))
    return subprocess.run([python, str(HERE / "real_models.py"), *sys.argv[1:]], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
