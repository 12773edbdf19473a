"""Sonde's drop-ins beside the originals in one process: the calls of calls.py made with both, event by event the same.

Runs where torch and tensorboardX, or TensorFlow and Keras, are installed (slow.py); test_same_files.py compares with what
the originals wrote once and runs everywhere.
"""

import importlib.util
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import calls
import sonde
import sonde.hparams
import sonde.projector
import sonde.summary
from events import assert_same, assert_same_files, files, read
from sonde import _tensorboardx


def both(call, original, ours, folder, wrap):
    call(original, str(folder / "original"), wrap)
    call(ours, str(folder / "ours"), wrap)
    return assert_same(folder / "ours", folder / "original")


def as_tensor(array):
    import torch

    return torch.from_numpy(array) if hasattr(array, "ndim") and array.ndim else torch.tensor(array)


@pytest.fixture
def torch_writer():
    pytest.importorskip("torch")
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter


@pytest.mark.parametrize("call", [calls.torch_writer, calls.torch_boxes, calls.torch_purge], ids=lambda c: c.__name__)
def test_torch(tmp_path, torch_writer, call):
    assert both(call, torch_writer, sonde.SummaryWriter, tmp_path, as_tensor) >= 4


def test_torch_drawn(tmp_path, torch_writer):
    pytest.importorskip("matplotlib")
    assert both(calls.torch_drawn, torch_writer, sonde.SummaryWriter, tmp_path, None) == 5


@pytest.mark.parametrize("clips", [1, 3, 4])
def test_video_holds_the_frames_torch_would_encode(tmp_path, torch_writer, clips):
    """torch itself needs a moviepy that is no longer made; its arrangement of the frames can still be asked for."""
    from PIL import Image, ImageSequence
    from torch.utils.tensorboard._utils import _prepare_video

    levels = np.array([0, 90, 200], np.uint8)
    video = levels[np.random.RandomState(1).randint(0, 3, (clips, 5, 3, 6, 8))]
    with sonde.SummaryWriter(tmp_path) as w:
        w.add_video("v", as_tensor(video), 7, fps=5)
    (path,) = files(tmp_path)["."]
    event = list(read(path))[1]
    picture = event.summary.value[0].image
    wanted = np.rint(_prepare_video(video) * 255)  # torch makes fractions of bytes
    assert (event.step, picture.height, picture.width, picture.colorspace) == (7, *wanted.shape[1:])
    gif = Image.open(io.BytesIO(picture.encoded_image_string))
    assert gif.info["duration"] == 200
    frames = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(gif)]
    assert np.array_equal(np.stack(frames), wanted)


def test_every_method_of_torch_exists_with_its_arguments(torch_writer):
    import inspect

    for name, original in inspect.getmembers(torch_writer, inspect.isfunction):
        if name.startswith("_"):
            continue
        ours = getattr(sonde.SummaryWriter, name)
        if name == "add_scalar":  # native: its names are in the docstring's signature
            assert all(f"{p}" in ours.__doc__ for p in list(inspect.signature(original).parameters)[1:])
            continue
        want, got = (
            [(p.name, p.default) for p in inspect.signature(f).parameters.values()][1:] for f in (original, ours)
        )
        assert got == want, name


def test_tensorboardx(tmp_path):
    tensorboardX = pytest.importorskip("tensorboardX")
    made = both(
        calls.tensorboardx_writer, tensorboardX.SummaryWriter, _tensorboardx.SummaryWriter, tmp_path, lambda a: a
    )
    assert made > 20


def test_tf_summary(tmp_path):
    tf = pytest.importorskip("tensorflow")
    assert both(calls.tf_summary, tf.summary, sonde.summary, tmp_path, None) > 20


def test_hparams_and_projector(tmp_path):
    tf = pytest.importorskip("tensorflow")
    from tensorboard.plugins import projector
    from tensorboard.plugins.hparams import api

    calls.hparams(api, tf.summary, str(tmp_path / "original"), None)
    calls.hparams(sonde.hparams, sonde.summary, str(tmp_path / "ours"), None)
    assert assert_same(tmp_path / "ours", tmp_path / "original") == 7
    for name, module in (("original", projector), ("ours", sonde.projector)):
        calls.projector(module, str(tmp_path / name), None)
    assert_same_files(tmp_path / "ours", tmp_path / "original", ["projector_config.pbtxt"])


@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_keras(tmp_path, backend):
    """keras.callbacks.TensorBoard itself needs TensorFlow for its writers whatever the backend."""
    for module in ("keras", "tensorflow", backend):  # importing Keras here would choose its backend
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}")
    code = f"""
import os, sys
os.environ["KERAS_BACKEND"] = {backend!r}
sys.path.insert(0, {str(Path(__file__).parent)!r})
import calls, keras, sonde.keras
options = dict(histogram_freq=1, write_images=True, update_freq="batch")
calls.keras_fit(keras.callbacks.TensorBoard, {str(tmp_path / "original")!r}, **options)
keras.utils.clear_session()  # names of layers count from one again
calls.keras_fit(sonde.keras.TensorBoard, {str(tmp_path / "ours")!r}, **options)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert assert_same(tmp_path / "ours", tmp_path / "original") > 40
