"""Writes tests/data/writers with the original libraries: record.py torch|x|tf (in a venv that has them)."""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import calls

DATA = Path(__file__).resolve().parent.parent / "data" / "writers"


def fresh(name):
    folder = DATA / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return str(folder)


def main(which):
    if which == "torch":
        import torch
        from torch.utils.tensorboard import SummaryWriter

        calls.torch_writer(
            SummaryWriter,
            fresh("torch"),
            lambda a: torch.from_numpy(a) if hasattr(a, "ndim") and a.ndim else torch.tensor(a),
        )
        calls.torch_boxes(SummaryWriter, fresh("torch_boxes"), torch.from_numpy)
        calls.torch_purge(SummaryWriter, fresh("torch_purge"), None)
    elif which == "x":
        from tensorboardX import SummaryWriter

        calls.tensorboardx_writer(SummaryWriter, fresh("tensorboardx"), None)
        calls.tensorboardx_takes_more(SummaryWriter, fresh("tensorboardx_more"), None)
    else:
        import keras
        import tensorflow as tf
        from tensorboard.plugins import projector
        from tensorboard.plugins.hparams import api

        calls.tf_summary(tf.summary, fresh("tf_summary"), None)
        calls.hparams(api, tf.summary, fresh("hparams"), None)
        calls.projector(projector, fresh("projector"), None)
        for name, options in calls.KERAS.items():
            calls.keras_fit(keras.callbacks.TensorBoard, fresh(name), **options)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        main(name)
