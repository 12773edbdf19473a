"""The examples run and log what they say."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sonde

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples" / "python"

# name, what it needs, plug-ins that must show something, files that must exist
CASES = [
    ("custom_loop", [], {"scalars", "images", "histograms", "pr_curves"}, []),
    ("hparams_grid", [], {"hparams", "scalars"}, []),
    ("projector_digits", [], {"images"}, ["projector_config.pbtxt", "00000/shapes/sprite.png"]),
    ("projector_words", [], set(), ["projector_config.pbtxt", "vectors.tsv"]),
    ("rollouts", [], {"scalars", "hparams"}, ["rl/grpo/tables/rollouts.jsonl", "rl/grpo/console.log", "rl/grpo/config.json"]),
    ("step_metrics", [], {"scalars", "text"}, []),
    (
        "torch_style",
        [],
        {"scalars", "histograms", "images", "text", "audio", "pr_curves", "mesh", "custom_scalars", "hparams"},
        [],
    ),
    ("keras_fit", ["keras"], {"scalars", "histograms", "images", "graph_keras_model", "hparams"}, []),
    ("lightning_patch", ["torch", "lightning"], {"scalars", "hparams"}, []),
]


PAGES = {"whatif_wine"}  # opens a page and stays; tests/whatif runs what it shows


def test_every_example_is_listed():
    assert {p.stem for p in EXAMPLES.glob("*.py")} == {case[0] for case in CASES} | PAGES
    readme = (EXAMPLES / "README.md").read_text()
    assert all(f"`{case[0]}.py`" in readme for case in CASES)


@pytest.mark.parametrize(("name", "needs", "plugins", "made"), CASES, ids=[c[0] for c in CASES])
def test_example(tmp_path, name, needs, plugins, made):
    for module in needs:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}")
    backend = next((b for b in ("tensorflow", "torch", "jax") if importlib.util.find_spec(b) is not None), "")
    environment = os.environ | {"KERAS_BACKEND": backend}
    subprocess.run([sys.executable, str(EXAMPLES / f"{name}.py"), str(tmp_path)], check=True, env=environment)
    log = sonde.load(tmp_path)
    assert {series.plugin for series in log.values()} >= plugins
    assert not log.damage and all((tmp_path / path).exists() for path in made)
