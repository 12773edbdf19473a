"""A program outside the tree finds the installed library with find_package(sonde) and logs with it, from C++ and C."""

import json
import subprocess
from pathlib import Path

import pytest

import sonde

ROOT = Path(__file__).resolve().parent.parent.parent


def test_example_outside_the_tree(tmp_path):
    if not list((ROOT / "build" / "release").glob("libsonde.so*")):
        pytest.skip("build/release has no libsonde.so: cmake --build build/release")
    quiet = {"stdout": subprocess.DEVNULL}
    subprocess.run(
        ["cmake", "--install", ROOT / "build/release", "--component", "library", "--prefix", tmp_path / "prefix"],
        check=True,
        **quiet,
    )
    # Copied away, so that nothing but the installed files can be found.
    subprocess.run(["cp", "-r", ROOT / "examples/cpp", tmp_path / "source"], check=True, **quiet)
    subprocess.run(
        [
            "cmake",
            "-S",
            tmp_path / "source",
            "-B",
            tmp_path / "build",
            "-G",
            "Ninja",
            f"-DCMAKE_PREFIX_PATH={tmp_path / 'prefix'}",
        ],
        check=True,
        **quiet,
    )
    subprocess.run(["cmake", "--build", tmp_path / "build"], check=True, **quiet)
    subprocess.run([tmp_path / "build/train", tmp_path / "logs/cpp"], check=True)
    subprocess.run([tmp_path / "build/train_c", tmp_path / "logs/c"], check=True)
    log = sonde.load(tmp_path / "logs")
    assert len(log["cpp", "loss"]) == 500 and log["cpp", "loss"].values.dtype.kind == "f"
    assert log["cpp", "result"].texts()[0][0].startswith("y = **")
    assert log["c", "square"].values.tolist() == [float(i * i) for i in range(100)]
    assert log["c", "data"].values[0].tolist()[0] == [0, 0.8, 1]


def test_demo_fills_every_dashboard(demo):
    log = sonde.load(demo)
    plugins = {series.plugin for series in log.values()}
    assert plugins >= {
        "scalars",
        "histograms",
        "images",
        "audio",
        "text",
        "pr_curves",
        "mesh",
        "hparams",
        "custom_scalars",
        "graphs",
    }
    accuracy = [s.values[-1] for (run, tag), s in log.items() if tag == "accuracy" and run.endswith("/validation")]
    assert len(accuracy) == 6 and max(accuracy) > 0.9 > min(accuracy)  # it has learned, and the rates differ
    import numpy as np

    # One run goes wrong on purpose, for the page Numerics.
    wrong = {run for (run, _), s in log.items() if s.is_scalar and not np.isfinite(s.values).all()}
    assert wrong == {"moons/naive_loss"}
    assert not log.damage
    assert (demo / "alerts.yaml").is_file() and (demo / "rollouts/console.log").read_text().count("\n") > 10
    rows = [json.loads(line) for line in (demo / "rollouts/tables/rollouts.jsonl").read_text().splitlines()]
    assert len(rows) >= 8 * 4 * 10 and all(len(r["completion"]["_tokens"]) == len(r["completion"]["values"]["logprob"]) for r in rows)
    first, last = ([r["correct"] for r in rows if r["_step"] == step] for step in (0, rows[-1]["_step"]))
    assert sum(last) / len(last) > 0.9 > sum(first) / len(first)  # the policy has learned to add
    assert len(log["rollouts", "system/process/memory_bytes"]) > 0
    assert len(list(demo.rglob("projector_config.pbtxt"))) == 1 and len(list(demo.rglob("sprite.png"))) == 1
