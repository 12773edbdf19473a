"""Frameworks that make their own writers log through Sonde after sonde.patch(), and torch models become graphs.

Each part runs where its framework is installed (slow.py makes such a place) and is skipped elsewhere.
"""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import sonde
from events import files, read

torch = pytest.importorskip("torch")


@pytest.fixture
def patched():
    sonde.patch()
    yield
    sonde.unpatch()


def scalars_in(folder):
    log = sonde.load(folder)
    return {
        tag: (series.steps.tolist(), series.values.tolist()) for (_, tag), series in log.items() if series.is_scalar
    }


def test_patch_replaces_and_gives_back():
    from torch.utils.tensorboard import SummaryWriter as original

    sonde.patch()
    import tensorboardX
    from torch.utils.tensorboard import SummaryWriter

    assert SummaryWriter is sonde.SummaryWriter and tensorboardX.SummaryWriter.__module__.startswith("sonde")
    sonde.unpatch()
    from torch.utils.tensorboard import SummaryWriter as again

    assert again is original


def test_patch_works_without_tensorboard(tmp_path):
    code = f"""
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("tensorboard", "tensorboardX"): raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hide())
import sonde; sonde.patch()
from torch.utils.tensorboard import SummaryWriter
import tensorboardX
with SummaryWriter({str(tmp_path)!r}) as w: w.add_scalar("a", 1, 1)
with tensorboardX.SummaryWriter({str(tmp_path / "x")!r}) as w: w.add_scalar("a", 1, 1)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert [len(sonde.load(tmp_path)[run, "a"]) for run in (".", "x")] == [1, 1]


def test_lightning(tmp_path, patched):
    lightning = pytest.importorskip("lightning")
    from lightning.pytorch.loggers import TensorBoardLogger

    class Line(lightning.LightningModule):
        def __init__(self, width=3):
            super().__init__()
            self.save_hyperparameters()
            self.layer = torch.nn.Linear(4, 1)
            self.example_input_array = torch.zeros(1, 4)

        def forward(self, x):
            return self.layer(x)

        def training_step(self, batch, _):
            loss = self(batch).square().mean()
            self.log("loss", loss)
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    logger = TensorBoardLogger(str(tmp_path), name="logs", log_graph=True)
    trainer = lightning.Trainer(
        max_epochs=2,
        logger=logger,
        log_every_n_steps=1,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
    )
    trainer.fit(Line(), torch.utils.data.DataLoader(torch.rand(16, 4), batch_size=4))
    assert type(logger.experiment) is sonde.SummaryWriter
    scalars = scalars_in(tmp_path)
    assert len(scalars["loss"][0]) == 8 and scalars["hp_metric"][1] == [-1]
    tags = {tag for _, tag in sonde.load(tmp_path)}
    assert {"__run_graph__", "_hparams_/experiment", "_hparams_/session_start_info"} <= tags


def test_ignite(tmp_path, patched):
    pytest.importorskip("ignite")
    from ignite.engine import Engine, Events
    from ignite.handlers.tensorboard_logger import GradsHistHandler, TensorboardLogger

    model = torch.nn.Linear(2, 1)

    def step(_, batch):
        model(batch).mean().backward()
        return float(batch.sum())

    trainer = Engine(step)
    with TensorboardLogger(log_dir=str(tmp_path)) as logger:
        logger.attach_output_handler(
            trainer, Events.ITERATION_COMPLETED, tag="train", output_transform=lambda out: {"loss": out}
        )
        logger.attach(trainer, GradsHistHandler(model), Events.EPOCH_COMPLETED)
        trainer.run(torch.ones(5, 3, 2), max_epochs=1)
    assert scalars_in(tmp_path)["train/loss"] == ([1, 2, 3, 4, 5], [6.0] * 5)
    assert any(s.plugin == "histograms" for s in sonde.load(tmp_path).values())


def test_accelerate(tmp_path, patched):
    accelerate = pytest.importorskip("accelerate")
    accelerator = accelerate.Accelerator(log_with="tensorboard", project_dir=str(tmp_path), cpu=True)
    accelerator.init_trackers("run", config={"lr": 0.1, "name": "x"})
    for i in range(3):
        accelerator.log({"loss": i * 0.5, "note": "text", "both": {"a": 1.0, "b": 2.0}}, step=i)
    accelerator.end_training()
    assert scalars_in(tmp_path)["loss"] == ([0, 1, 2], [0.0, 0.5, 1.0])
    assert any(tag == "_hparams_/session_start_info" for _, tag in sonde.load(tmp_path))


@pytest.mark.parametrize("way", ["a writer is given", "the callback makes its own"])
def test_transformers_trainer(tmp_path, way, monkeypatch):
    transformers = pytest.importorskip("transformers")
    from transformers.integrations import TensorBoardCallback

    class Tiny(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(2, 1)

        def forward(self, x, labels):
            out = self.layer(x)
            return {"loss": (out - labels).square().mean(), "logits": out}

    rows = [{"x": torch.ones(2) * i, "labels": torch.ones(1) * i} for i in range(8)]
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "logs"))
    if way == "a writer is given":
        more = {"callbacks": [TensorBoardCallback(sonde.SummaryWriter(tmp_path / "logs"))]}
    else:
        sonde.patch()
        more = {}
    arguments = transformers.TrainingArguments(
        output_dir=str(tmp_path / "out"),
        report_to=[] if more else ["tensorboard"],
        max_steps=4,
        logging_steps=1,
        eval_strategy="steps",
        eval_steps=2,
        per_device_train_batch_size=2,
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
    )
    try:
        trainer = transformers.Trainer(Tiny(), arguments, train_dataset=rows, eval_dataset=rows, **more)
        (callback,) = (c for c in trainer.callback_handler.callbacks if isinstance(c, TensorBoardCallback))
        assert more or callback._SummaryWriter is sonde.SummaryWriter
        trainer.train()
    finally:
        sonde.unpatch()
    scalars = scalars_in(tmp_path / "logs")
    assert scalars["train/loss"][0] == [1, 2, 3, 4] and scalars["eval/loss"][0] == [2, 4]
    assert json.loads(sonde.load(tmp_path / "logs")[".", "args/text_summary"].texts()[0][0])["max_steps"] == 4


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.features = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Dropout())
        self.head = torch.nn.Linear(2 * 4 * 4, 3)

    def forward(self, x):
        y = self.features(x).flatten(1)
        return self.head(y), torch.cat([y, y], 1)


def test_add_graph_is_torchs(tmp_path):
    from tensorboard.compat.proto import graph_pb2
    from torch.utils.tensorboard import SummaryWriter

    for name, make in (("original", SummaryWriter), ("sonde", sonde.SummaryWriter)):
        torch.manual_seed(0)
        with make(str(tmp_path / name)) as w:
            w.add_graph(Net(), torch.zeros(1, 1, 6, 6))

    def graph(name):
        (path,) = files(tmp_path / name)["."]
        events = list(read(path))
        assert [e.WhichOneof("what") for e in events] == ["file_version", "graph_def", "tagged_run_metadata"]
        return graph_pb2.GraphDef.FromString(events[1].graph_def), events[2].tagged_run_metadata

    ours, theirs = graph("sonde"), graph("original")
    assert list(ours[0].node) == list(theirs[0].node) and ours[0].versions == theirs[0].versions
    assert ours[1] == theirs[1]


def test_add_onnx_graph(tmp_path):
    onnx = pytest.importorskip("onnx")
    from onnx import helper
    from tensorboard.compat.proto import graph_pb2
    from torch.utils.tensorboard import SummaryWriter

    node = helper.make_node("Gemm", ["x", "w"], ["y"], alpha=0.5)
    tensors = (
        [helper.make_tensor_value_info(n, 1, [2, 2]) for n in "xw"],
        [helper.make_tensor_value_info("y", 1, [2, 2])],
    )
    onnx.save(helper.make_model(helper.make_graph([node], "g", *tensors)), tmp_path / "m.onnx")
    graphs = []
    for name, make in (("original", SummaryWriter), ("sonde", sonde.SummaryWriter)):
        with make(str(tmp_path / name)) as w:
            w.add_onnx_graph(str(tmp_path / "m.onnx"))
        graphs.append(graph_pb2.GraphDef.FromString(list(read(files(tmp_path / name)["."][0]))[1].graph_def))
    assert graphs[0] == graphs[1]


@pytest.mark.parametrize(
    "value", [torch.tensor(2.5), torch.tensor([[2.5]]), torch.tensor(2.5, dtype=torch.bfloat16, requires_grad=True)]
)
def test_tensors_as_scalars(tmp_path, value):
    with sonde.SummaryWriter(tmp_path) as w:
        w.add_scalar("a", value, torch.tensor(3))
    assert scalars_in(tmp_path)["a"] == ([3], [2.5])


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_keras_callback_on_other_backends(tmp_path, backend):
    for module in ("keras", backend):  # importing Keras here would choose its backend
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}")
    code = f"""
import os
os.environ["KERAS_BACKEND"] = {backend!r}
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
import calls, sonde.keras
calls.keras_fit(sonde.keras.TensorBoard, {str(tmp_path)!r}, histogram_freq=1, update_freq="batch", profile_batch="2,3")
assert "tensorflow" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    log = sonde.load(tmp_path)
    assert log["train", "epoch_loss"].steps.tolist() == [0, 1, 2] and len(log["train", "batch_mae"]) == 15
    assert len(log["train", "sequential/d1/kernel/histogram"]) == 3 and log[
        "validation", "epoch_loss"
    ].steps.tolist() == [0, 1, 2]
    captures = [p.name for p in tmp_path.rglob("*") if p.name.endswith((".xplane.pb", ".pt.trace.json"))]
    assert len(captures) == 1
