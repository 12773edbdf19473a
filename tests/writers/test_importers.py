"""Files that wandb, MLflow, Trackio and Optuna wrote (tests/data/trackers), and plain ones, as event files."""

import gzip
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

import sonde
from sonde import importers

DATA = Path(__file__).resolve().parents[1] / "data" / "trackers"


def unpacked(name, tmp_path, to):
    path = tmp_path / to
    path.write_bytes(gzip.decompress((DATA / name).read_bytes()))
    return path


def imported(source, tmp_path):
    made = importers.import_runs(source, tmp_path / "logs")
    return made, sonde.load(tmp_path / "logs")


def test_wandb_offline(tmp_path):
    made, log = imported(DATA / "run-cnmr9q5o.wandb", tmp_path)
    assert made == [str(tmp_path / "logs/small/first")]
    assert list(log["small/first", "loss"].values) == pytest.approx([1 / (i + 1) for i in range(20)])
    assert list(log["small/first", "nested/acc"].steps) == list(range(20))
    assert math.isnan(log["small/first", "nan"].values[0]) and log["small/first", "nan"].steps[0] == 25
    assert len(log["small/first", "text"]) == 20
    assert json.loads((tmp_path / "logs/small/first/config.json").read_text()) == {"lr": 0.01, "model": {"depth": 3, "name": "net"}}
    assert json.loads((tmp_path / "logs/small/first/sonde_run.json").read_text())["state"] == "finished"


def test_wandb_cut_anywhere_gives_what_was_whole(tmp_path):
    data = (DATA / "run-cnmr9q5o.wandb").read_bytes()
    seen = 0
    for end in range(7, len(data), 211):
        path = tmp_path / "cut.wandb"
        path.write_bytes(data[:end])
        run = next(importers.read(path))
        assert len(run.points) >= seen
        seen = len(run.points)
        assert [p[1] for p in run.points[:20]] == list(range(min(20, len(run.points))))
    assert seen >= 19


def test_wandb_damaged_bytes_never_raise(tmp_path):
    data = bytearray((DATA / "run-cnmr9q5o.wandb").read_bytes())
    for at in range(7, len(data), 97):
        broken = data.copy()
        broken[at] ^= 0xFF
        path = tmp_path / "broken.wandb"
        path.write_bytes(broken)
        for run in importers.read(path, []):
            assert len(run.points) <= 21


def test_mlflow_database(tmp_path):
    made, log = imported(unpacked("mlflow.db.gz", tmp_path, "mlflow.db"), tmp_path)
    assert len(made) == 2
    assert list(log["small/trial-1", "loss"].values) == pytest.approx([1 / (i + 2) for i in range(10)])
    assert math.isnan(log["small/trial-0", "bad"].values[0])
    assert json.loads((Path(made[1]) / "config.json").read_text()) == {"lr": 0.2, "layers": 3, "opt": "adam"}


def test_mlflow_files(tmp_path):
    _, log = imported(DATA / "mlruns", tmp_path)
    assert list(log["small/files", "val/acc"].values) == pytest.approx([i / 10 for i in range(10)])


def test_trackio(tmp_path):
    made, log = imported(unpacked("trackio.db.gz", tmp_path, "small.db"), tmp_path)
    assert list(log["small/first", "loss"].steps) == list(range(10))
    assert json.loads((Path(made[0]) / "config.json").read_text()) == {"lr": 0.01}


def test_optuna(tmp_path):
    made, log = imported(unpacked("optuna.db.gz", tmp_path, "optuna.db"), tmp_path)
    assert len(made) == 6
    config = json.loads((Path(made[1]) / "config.json").read_text())
    assert config["opt"] == "sgd" and config["n"] == 2 and isinstance(config["n"], int)
    assert float(log["small/trial-0", "value"].values[0]) == pytest.approx(2.0275413908143185)
    assert list(log["small/trial-0", "intermediate_value"].steps) == [0, 1, 2]


def test_plain_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a").mkdir()
    Path("a/metrics.csv").write_text("epoch,loss,val_loss,step\n0,1.5,,0\n0,,1.7,0\n1,0.5,nan,100\n")  # Lightning
    Path("a/log.jsonl").write_text('{"step": 1, "loss": 2.5}\nnot json\n{"step": 2, "loss": "NaN"}\n')
    Path("a/trainer_state.json").write_text(json.dumps({"log_history": [{"step": 10, "loss": 1.0, "epoch": 0.5}, {"step": 10, "eval_loss": 2.0}]}))
    Path("a/other.json").write_text("{}")
    Path("a/odd.db").write_text("no database")
    problems = []
    importers.import_runs("a", "logs", problems)
    log = sonde.load("logs")
    assert list(log["a/metrics", "loss"].steps) == [0, 100] and next(iter(log["a/metrics", "val_loss"].values)) == 1.7
    assert list(log["a/log", "loss"].steps) == [1, 2] and math.isnan(log["a/log", "loss"].values[1])
    assert float(log["a", "eval/loss"].values[0]) == 2.0 and float(log["a", "train/loss"].values[0]) == 1.0
    assert len(problems) == 1 and "odd.db" in problems[0]


def test_hostile_names_stay_inside(tmp_path):
    for name in ("../../x", "/etc/x", "a/../../b", "..", "", "a\0b", "<b>"):
        folder = importers._folder_of(name)
        assert not Path(folder).is_absolute() and ".." not in Path(folder).parts and "\0" not in folder


def test_command(tmp_path):
    done = subprocess.run([sys.executable, "-m", "sonde", "import", str(DATA / "mlruns"), str(tmp_path / "l")], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout == f"1 runs in {tmp_path / 'l'}\n", done.stderr
    none = subprocess.run([sys.executable, "-m", "sonde", "import", str(tmp_path / "none"), str(tmp_path / "m")], capture_output=True, text=True, check=False)
    assert none.returncode == 1 and "there is no" in none.stderr
