"""sonde.patch() beside the real wandb, Ray Tune, Stable Baselines, Optuna, TensorFlow and Keras (./test --all).

Each program runs in a process of its own: what is patched there stays there.
"""

import importlib.util
import os
import struct
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import sonde

HERE = str(Path(__file__).parent)


def needs(*modules):
    for name in modules:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"needs {name}")


def run(folder, code, **environment):
    path = os.pathsep.join([HERE, *[p for p in sys.path if p]])
    variables = os.environ | {"PYTHONPATH": path, "SONDE_DIR": str(folder / "mirror"), "TF_CPP_MIN_LOG_LEVEL": "3"} | environment
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def scalars(folder):
    return {(r, t): (s.steps.tolist(), s.values.tolist()) for (r, t), s in sonde.load(folder).items() if s.is_scalar}


def records_of_wandb(path):
    """The records of an offline run: 7 bytes of header, then blocks of 32 KiB as in a LevelDB log."""
    data = path.read_bytes()
    assert data[:4] == b":W&B"
    at, part, whole = 7, b"", []
    while at + 7 <= len(data):
        left = 32768 - at % 32768
        if left < 7:
            at += left
            continue
        _, length, kind = struct.unpack_from("<IHB", data, at)
        part += data[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            whole.append(part)
            part = b""
    return whole


@pytest.mark.parametrize("order", ["patch first", "wandb first"])
def test_wandb_syncs_what_is_logged(tmp_path, order):
    needs("wandb", "torch", "tensorboard")
    first, second = ("sonde.patch()", "begin()") if order == "patch first" else ("begin()", "sonde.patch()")
    code = f"""
        import sonde, wandb
        def begin():
            settings = wandb.Settings(silent=True, x_disable_stats=True, console="off", disable_git=True, disable_code=True)
            wandb.init(project="p", mode="offline", sync_tensorboard=True, settings=settings)
        {first}
        {second}
        from torch.utils.tensorboard import SummaryWriter
        with SummaryWriter("logs") as w:
            for i in range(40):
                w.add_scalar("loss", i / 4, i)
        assert SummaryWriter.__module__.startswith("sonde"), SummaryWriter
        wandb.finish()
    """
    run(tmp_path, code, WANDB_DIR=str(tmp_path))
    assert scalars(tmp_path / "logs")[".", "loss"] == (list(range(40)), [i / 4 for i in range(40)])
    from wandb.proto import wandb_internal_pb2

    (path,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    found = {}
    for content in records_of_wandb(path):
        record = wandb_internal_pb2.Record.FromString(content)
        if record.WhichOneof("record_type") == "history":
            items = {item.key or "/".join(item.nested_key): item.value_json for item in record.history.item}
            if "loss" in items:
                found[int(items["global_step"])] = float(items["loss"])
    assert found == {i: i / 4 for i in range(40)}


def test_ray_tune_keeps_hyperparameters(tmp_path):
    needs("ray", "tensorboardX")
    code = """
        import sonde; sonde.patch()
        from types import SimpleNamespace
        class Trial(SimpleNamespace):
            __hash__ = object.__hash__
        from ray.tune.logger import TBXLoggerCallback
        callback = TBXLoggerCallback()
        for i, lr in enumerate((0.1, 0.2)):
            trial = Trial(trial_id=str(i), logdir=f"t{i}", local_path=f"t{i}", config={"lr": lr}, evaluated_params={"lr": lr, "opt": "sgd"})
            trial.init_local_path = lambda: None
            callback.log_trial_start(trial)
            for step in range(1, 6):
                callback.log_trial_result(step, trial, {"loss": lr / step, "training_iteration": step, "timesteps_total": step})
            callback.log_trial_end(trial)
    """
    run(tmp_path, code)
    for i, lr in enumerate((0.1, 0.2)):
        log = sonde.load(tmp_path / f"t{i}")
        assert log[".", "ray/tune/loss"].steps.tolist() == [1, 2, 3, 4, 5]
        table = log.hparams()
        assert table["lr"].tolist() == [lr] and table["opt"].tolist() == ["sgd"]


HIDE = """
        import sys
        class Hide:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] in ("tensorboard", "tensorboardX"): raise ModuleNotFoundError(name)
        sys.meta_path.insert(0, Hide())
"""


@pytest.mark.parametrize("has_tensorboard", [True, False])
def test_stable_baselines(tmp_path, has_tensorboard):
    needs("stable_baselines3", "gymnasium")
    code = f"""
        {"" if has_tensorboard else HIDE}
        import stable_baselines3
        import sonde; sonde.patch()
        model = stable_baselines3.PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=32, n_epochs=1, tensorboard_log="logs", seed=0, device="cpu")
        model.learn(192)
    """
    run(tmp_path, code)
    found = scalars(tmp_path / "logs")
    assert found["PPO_1", "train/loss"][0] == [128, 192] and found["PPO_1", "time/fps"][0] == [64, 128, 192]


def test_optuna_callback(tmp_path):
    needs("optuna", "tensorboard")
    code = """
        import sonde; sonde.patch()
        import optuna
        from torch.utils.tensorboard import SummaryWriter
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        def objective(trial):
            x = trial.suggest_float("x", -1, 1)
            with SummaryWriter(f"logs/{trial.number}") as w:
                for step in range(3): w.add_scalar("y", x * step, step)
                w.add_hparams({"x": x}, {"final": x * x})
            return x * x
        optuna.create_study(sampler=optuna.samplers.RandomSampler(0)).optimize(objective, n_trials=4)
    """
    run(tmp_path, code)
    log = sonde.load(tmp_path / "logs")
    table = log.hparams(metrics=["y", "final"])
    assert sorted(table["run"]) == ["0", "1", "2", "3"]
    assert table["y"] == pytest.approx(2 * table["x"].astype(float), rel=1e-6)
    assert table["final"] == pytest.approx(table["x"].astype(float) ** 2, rel=1e-6)


@pytest.mark.parametrize("when", ["before", "after"])
def test_tensorflow_and_keras(tmp_path, when):
    needs("tensorflow", "keras")
    code = f"""
        import sonde
        {"sonde.patch()" if when == "before" else ""}
        import tensorflow as tf, keras
        original = None if {when == "before"} else keras.callbacks.TensorBoard
        {"sonde.patch()" if when == "after" else ""}
        assert keras.callbacks.TensorBoard.__module__ == "sonde.keras", keras.callbacks.TensorBoard
        assert tf.keras.callbacks.TensorBoard is keras.callbacks.TensorBoard
        assert tf.summary.scalar.__module__.startswith("sonde")
        with tf.summary.create_file_writer("tf").as_default():
            for i in range(3): tf.summary.scalar("a", i / 2, step=i)
        import calls
        calls.keras_fit(keras.callbacks.TensorBoard, "fit")
        sonde.unpatch()
        assert tf.summary.scalar.__module__.startswith("tensorflow") and "sonde" not in keras.callbacks.TensorBoard.__module__
        assert original in (None, keras.callbacks.TensorBoard)
    """
    run(tmp_path, code)
    assert scalars(tmp_path / "tf")[".", "a"] == ([0, 1, 2], [0, 0.5, 1])
    assert len(scalars(tmp_path / "fit")["train", "epoch_loss"][0]) == 3
