"""sonde.patch(): wandb.log and mlflow.log_metric also write a run of Sonde's. With stand-ins always, with the real programs
where they are installed."""

import os
import subprocess
import sys
import textwrap

import pytest

import sonde

STAND_INS = {
    "wandb/__init__.py": "",
    "wandb/sdk/__init__.py": "",
    "wandb/sdk/wandb_run.py": """
        class Run:
            def __init__(self):
                self.id, self.project, self.name, self.config, self.step, self.seen = "x1", "small", "first", {"lr": 0.1, "_wandb": {}}, 0, []
            def log(self, data, step=None, commit=None):
                self.seen.append(data)
                self.step = (self.step if step is None else step) + 1
            def finish(self, exit_code=None):
                self.seen.append("end")
    """,
}

PROGRAM = """
    import sys
    import sonde
    if sys.argv[1] == "late":
        import wandb.sdk.wandb_run
    sonde.patch()
    from wandb.sdk.wandb_run import Run
    class Picture: pass
    run = Run()
    for i in range(3):
        run.log({"loss": 1 / (i + 1), "n": {"acc": i}, "picture": Picture()})
    run.log({"x": 1}, step=10)
    run.finish()
    assert len(run.seen) == 5 and run.seen[-1] == "end"
    sonde.unpatch()
    assert Run.log.__qualname__ == "Run.log" and "sonde" not in Run.log.__code__.co_filename
"""

REAL = """
    import sonde
    sonde.patch()
    import wandb, mlflow
    settings = wandb.Settings(silent=True, x_disable_stats=True, console="off", disable_git=True, disable_code=True)
    wandb.init(project="small", name="w", dir=".", mode="offline", config={"lr": 0.1}, settings=settings)
    for i in range(5):
        wandb.log({"loss": 1 / (i + 1)})
    wandb.finish()
    mlflow.set_tracking_uri("sqlite:///m.db")
    mlflow.set_experiment("exp")
    with mlflow.start_run(run_name="m"):
        mlflow.log_params({"lr": 0.1, "opt": "adam"})
        for i in range(4):
            mlflow.log_metric("loss", 1 / (i + 1), step=i)
        mlflow.log_metrics({"a": 1.0, "b": 2.0}, step=9)
"""


def run(program, folder, *arguments):
    path = os.pathsep.join([str(folder), *[p for p in sys.path if p]])
    environment = os.environ | {"PYTHONPATH": path, "SONDE_DIR": str(folder / "runs")}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return sonde.load(folder / "runs")


@pytest.mark.parametrize("when", ["early", "late"])
def test_a_logged_step_is_written_twice(tmp_path, when):
    for name, text in STAND_INS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
    log = run(PROGRAM, tmp_path, when)
    assert list(log["small/first", "loss"].values) == pytest.approx([1, 1 / 2, 1 / 3])
    assert list(log["small/first", "n/acc"].steps) == [0, 1, 2]
    assert list(log["small/first", "x"].steps) == [10]


def test_the_real_programs(tmp_path):
    pytest.importorskip("wandb")
    pytest.importorskip("mlflow")
    log = run(REAL, tmp_path)
    assert list(log["small/w", "loss"].steps) == list(range(5))
    assert list(log["exp/m", "loss"].values) == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4])
    assert list(log["exp/m", "b"].steps) == [9]
