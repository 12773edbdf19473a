"""The tests of the writers beside the real torch, TensorFlow, Keras and Jupyter, each in a virtual environment of its own.

The first run downloads several gigabytes. A place that exists already is used when SONDE_VENV_TORCH, SONDE_VENV_TF or
SONDE_VENV_JUPYTER names it. Also builds and installs the wheel.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(Path(__file__).parent))
from run import BUILD, build

COMMON = ["pytest<10", "numpy<3", "tensorboard==2.21.0", "setuptools<81", "pillow", "nanobind-backend>=1,<2"]
PLACES = [
    (
        "torch",
        [
            *COMMON,
            "torch",
            "tensorboardX",
            "lightning",
            "pytorch-ignite",
            "accelerate",
            "transformers",
            "keras",
            "jax",
            "onnx",
            "soundfile",
            "matplotlib",
            "wandb",
            "ray[tune]",
            "stable-baselines3",
            "optuna",
            "trl",
            "datasets",
            "mlflow",
            "trackio",
        ],
        ["test_live.py", "test_frameworks.py", "test_trl.py", "test_trackers_live.py", "test_patch_trackers.py", "test_examples.py", "test_profile_live.py", "test_dropin.py"],
    ),
    (
        "tf",
        [*COMMON, "tensorflow-cpu", "keras", "jax"],
        ["test_live.py", "test_same_files.py", "test_tensorflow.py", "test_originals.py", "test_examples.py", "test_compiled.py", "test_trackers_live.py"],
    ),
    (
        "jupyter",
        [*COMMON, "jupyterlab", "notebook>=7", "jupyter-server-proxy", "nbclient", "nbconvert"],
        ["test_notebook.py", "test_notebook_matrix.py"],
    ),
]


def place(name, packages):
    given = os.environ.get(f"SONDE_VENV_{name.upper()}")
    folder = Path(given) if given else ROOT / f".venv-{name}"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
    return python


def main():
    build(sys.executable)
    passed = failed = skipped = 0
    environment = os.environ | {"PYTHONPATH": str(BUILD / "python"), "SONDE_KILLS": "200", "TF_CPP_MIN_LOG_LEVEL": "3"}
    # The wheel is built from nothing but the sources; objects the tree was built from before come from the compiler's cache.
    environment |= {
        "CC": "cc",
        "CXX": "c++",
        "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_NOHASHDIR": "1",
    }
    runs = [(sys.executable, ["test_loss.py", "test_run.py", "test_wheel.py"])] + [
        (place(name, packages), tests) for name, packages, tests in PLACES
    ]
    for python, tests in runs:
        command = [
            str(python),
            "-m",
            "pytest",
            "--no-header",
            "--tb=short",
            "-p",
            "no:cacheprovider",
            *(str(ROOT / "tests/writers" / t) for t in tests),
        ]
        run = subprocess.run(
            command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        print(run.stdout)
        count = {word: int(n) for n, word in re.findall(r"(\d+) (passed|failed|errors?|skipped)", run.stdout.splitlines()[-1])}
        passed += count.get("passed", 0)
        skipped += count.get("skipped", 0)
        failed += sum(n for word, n in count.items() if word not in ("passed", "skipped")) or (1 if run.returncode else 0)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
