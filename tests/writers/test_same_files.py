"""Sonde's drop-ins write what the originals wrote (tests/data/writers, made by record.py): tags, metadata, steps, values."""

from pathlib import Path

import numpy as np
import pytest

import calls
import sonde
import sonde.hparams
import sonde.projector
import sonde.summary
from events import assert_same, assert_same_files, comparable, files, near, read
from sonde import _tensorboardx

DATA = Path(__file__).resolve().parent.parent / "data" / "writers"


def test_torch(tmp_path):
    calls.torch_writer(sonde.SummaryWriter, str(tmp_path), lambda a: a)
    assert assert_same(tmp_path, DATA / "torch") > 100
    same = ["projector_config.pbtxt", "00001/e%2fm/metadata.tsv", "00002/default/metadata.tsv"]
    assert_same_files(tmp_path, DATA / "torch", same)
    for name in ("00001/e%2fm", "00002/default"):
        assert np.array_equal(
            np.loadtxt(tmp_path / name / "tensors.tsv"), np.loadtxt(DATA / "torch" / name / "tensors.tsv")
        )
    from PIL import Image

    sprites = [np.asarray(Image.open(Path(side) / "00001/e%2fm/sprite.png")) for side in (tmp_path, DATA / "torch")]
    assert np.array_equal(*sprites)


def test_torch_boxes(tmp_path):
    calls.torch_boxes(sonde.SummaryWriter, str(tmp_path), lambda a: a)
    assert assert_same(tmp_path, DATA / "torch_boxes") == 4


def test_torch_file_names(tmp_path):
    calls.torch_writer(sonde.SummaryWriter, str(tmp_path), lambda a: a)
    (path,) = files(tmp_path)["."]
    parts = path.name.split(".")
    assert parts[:3] == ["events", "out", "tfevents"] and len(parts[3]) == 10 and parts[-1] == "tail"


def test_torch_purge(tmp_path):
    calls.torch_purge(sonde.SummaryWriter, str(tmp_path), None)
    assert assert_same(tmp_path, DATA / "torch_purge") == 4


def test_tensorboardx(tmp_path):
    calls.tensorboardx_writer(_tensorboardx.SummaryWriter, str(tmp_path), None)
    assert assert_same(tmp_path, DATA / "tensorboardx") > 20


def test_tensorboardx_takes_more(tmp_path):
    calls.tensorboardx_takes_more(_tensorboardx.SummaryWriter, str(tmp_path), None)
    assert assert_same(tmp_path, DATA / "tensorboardx_more") >= 20


def test_tf_summary(tmp_path):
    calls.tf_summary(sonde.summary, str(tmp_path), None)
    assert assert_same(tmp_path, DATA / "tf_summary") > 20


def test_hparams(tmp_path):
    calls.hparams(sonde.hparams, sonde.summary, str(tmp_path), None)
    assert assert_same(tmp_path, DATA / "hparams") == 7


def test_projector(tmp_path):
    calls.projector(sonde.projector, str(tmp_path), None)
    assert_same_files(tmp_path, DATA / "projector", ["projector_config.pbtxt"])


@pytest.mark.parametrize("name", calls.KERAS)
def test_keras(tmp_path, name):
    keras = pytest.importorskip("keras")
    if keras.config.backend() != "tensorflow":
        pytest.skip("the recorded weights are TensorFlow's")
    import sonde.keras

    calls.keras_fit(sonde.keras.TensorBoard, str(tmp_path), **calls.KERAS[name])
    if name == "keras_two":
        # With update_freq=2 the original drops what falls on an odd batch (verified); Sonde must have all of it.
        for run, paths in files(DATA / name).items():
            mine = {
                (e[0], v[0])
                for path in files(tmp_path)[run]
                for e in map(comparable, read(path))
                if e[1] == "summary"
                for v in e[2]
            }
            theirs = {
                (e[0], v[0]) for path in paths for e in map(comparable, read(path)) if e[1] == "summary" for v in e[2]
            }
            assert theirs <= mine
        return
    timed = ("batch_steps_per_second", "epoch_steps_per_second")
    assert assert_same(tmp_path, DATA / name, timed, near) > 10  # trained anew, maybe on another processor


@pytest.mark.parametrize("name", ["keras_histograms", "keras_batch"])
def test_keras_beside_the_original(tmp_path, name):
    """Both trained here: equal to the last bit."""
    keras = pytest.importorskip("keras")
    if keras.config.backend() != "tensorflow":
        pytest.skip("the original callback needs TensorFlow")
    import sonde.keras

    for side, callback in (("ours", sonde.keras.TensorBoard), ("original", keras.callbacks.TensorBoard)):
        keras.backend.clear_session()  # or the second model has other names
        calls.keras_fit(callback, str(tmp_path / side), **calls.KERAS[name])
    assert assert_same(tmp_path / "ours", tmp_path / "original", ("batch_steps_per_second", "epoch_steps_per_second")) > 10
