"""A Keras 3 callback that writes what keras.callbacks.TensorBoard writes, on any backend and without TensorFlow.

    model.fit(x, y, callbacks=[sonde.keras.TensorBoard("logs", histogram_freq=1)])

Differences, all towards losing nothing: with an integer update_freq the epoch metrics, histograms and graphs are
always recorded; embeddings are also written in a form the projector can read; profile_batch="2" is accepted; the
torch backend can be profiled.
"""

from __future__ import annotations

import os
import time
from typing import Any

from keras import ops
from keras.callbacks import Callback

from . import summary
from ._keras_numerics import Numerics
from ._keras_profile import Profile, batch_range
from .projector import ProjectorConfig, visualize_embeddings

__all__ = ["Numerics", "TensorBoard"]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else float(ops.convert_to_numpy(value))


class TensorBoard(Callback):
    """Parameters as in keras.callbacks.TensorBoard."""

    def __init__(
        self,
        log_dir: Any = "logs",
        histogram_freq: int = 0,
        write_graph: bool = True,
        write_images: bool = False,
        write_steps_per_second: bool = False,
        update_freq: str | int = "epoch",
        profile_batch: Any = 0,
        embeddings_freq: int = 0,
        embeddings_metadata: Any = None,
    ) -> None:
        super().__init__()
        self.log_dir = str(log_dir)
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.write_images = write_images
        self.write_steps_per_second = write_steps_per_second
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.embeddings_freq = embeddings_freq
        self.embeddings_metadata = embeddings_metadata
        self._start_batch, self._stop_batch = batch_range(profile_batch)
        self._profile: Profile | None = None
        self._global_train_batch = 0
        self._global_test_batch = 0
        self._batch_start_time = 0.0
        self._epoch_start_time = 0.0
        self._epoch_start_iterations = 0.0
        self._writers: dict[str, summary.SummaryWriter] = {}
        self._embedding_layers: list[Any] = []
        self._defaults: list[Any] = []

    def set_model(self, model: Any) -> None:
        super().set_model(model)
        self._train_dir = os.path.join(self.log_dir, "train")
        self._val_dir = os.path.join(self.log_dir, "validation")
        self._writers = {}
        if self.write_graph and type(model).__name__ in ("Functional", "Sequential"):
            with self._train_writer.as_default():
                summary.keras_model("keras", model, step=0)
        if self.embeddings_freq:
            self._configure_embeddings()

    def _writer(self, name: str, folder: str) -> summary.SummaryWriter:
        if name not in self._writers:
            self._writers[name] = summary.create_file_writer(folder)
        return self._writers[name]

    @property
    def _train_writer(self) -> summary.SummaryWriter:
        return self._writer("train", self._train_dir)

    @property
    def _val_writer(self) -> summary.SummaryWriter:
        return self._writer("val", self._val_dir)

    # The default writer during fit() is the callback's own when update_freq counts batches, so that sonde.summary
    # calls inside the model or other callbacks land in the same run at the same step.
    def _push(self, writer: summary.SummaryWriter, step: int) -> None:
        if self.update_freq == "epoch":
            return
        every = int(self.update_freq)
        contexts = (writer.as_default(step), summary.record_if(lambda: step % every == 0))
        for one in contexts:
            one.__enter__()
        self._defaults.append(contexts)

    def _pop(self) -> None:
        if self.update_freq != "epoch" and self._defaults:
            for one in reversed(self._defaults.pop()):
                one.__exit__(None, None, None)

    def on_train_begin(self, logs: Any = None) -> None:
        self._global_train_batch = 0
        self._push(self._train_writer, 0)

    def on_train_end(self, logs: Any = None) -> None:
        self._pop()
        if self._profile is not None:
            self._finish_profile()
        for writer in self._writers.values():
            writer.close()
        self._writers = {}

    def on_test_begin(self, logs: Any = None) -> None:
        self._push(self._val_writer, self._global_test_batch)

    def on_test_end(self, logs: Any = None) -> None:
        optimizer = getattr(self.model, "optimizer", None)
        if optimizer is not None and hasattr(optimizer, "iterations"):
            step = int(_number(optimizer.iterations))
            self._log(self._val_writer, {f"evaluation_{k}_vs_iterations": v for k, v in (logs or {}).items()}, step)
        self._pop()

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._global_train_batch += 1
        if self.update_freq != "epoch":
            self._pop()
            self._push(self._train_writer, self._global_train_batch)
        if self.write_steps_per_second:
            self._batch_start_time = time.time()
        if self._start_batch and self._global_train_batch == self._start_batch:
            self._profile = Profile(self._train_dir)
            self._profile.start()
        if self._profile is not None:
            self._profile.begin_step(self._global_train_batch)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if self._profile is not None:
            self._profile.end_step()
            if self._global_train_batch >= self._stop_batch:
                self._finish_profile()
        if self.update_freq == "epoch" or self._global_train_batch % int(self.update_freq) != 0:
            return
        values = {}
        if self.write_steps_per_second:
            values["batch_steps_per_second"] = 1.0 / max(time.time() - self._batch_start_time, 1e-9)
        if isinstance(logs, dict):
            values |= {f"batch_{k}": v for k, v in logs.items()}
        self._log(self._train_writer, values, self._global_train_batch)

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        self._global_test_batch += 1
        if self.update_freq != "epoch":
            self._pop()
            self._push(self._val_writer, self._global_test_batch)

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        if self.write_steps_per_second:
            self._epoch_start_iterations = _number(self.model.optimizer.iterations)
            self._epoch_start_time = time.time()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if logs:
            self._log_epoch(epoch, logs)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._log_weights(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            self._log_embeddings(epoch)

    @staticmethod
    def _log(writer: summary.SummaryWriter, values: dict[str, Any], step: int) -> None:
        with writer.as_default(), summary.record_if(True):
            for name, value in values.items():
                summary.scalar(name, _number(value), step=step)

    def _log_epoch(self, epoch: int, logs: dict[str, Any]) -> None:
        train = {f"epoch_{k}": v for k, v in logs.items() if not k.startswith("val_")}
        train |= {f"epoch_{k}": v for k, v in self._learning_rates().items()}
        if self.write_steps_per_second:
            steps = _number(self.model.optimizer.iterations) - self._epoch_start_iterations
            train["epoch_steps_per_second"] = steps / max(time.time() - self._epoch_start_time, 1e-9)
        self._log(self._train_writer, train, epoch)
        validation = {f"epoch_{k[4:]}": v for k, v in logs.items() if k.startswith("val_")}
        if validation:
            self._log(self._val_writer, validation, epoch)

    def _learning_rates(self) -> dict[str, float]:
        optimizer: Any = getattr(self.model, "optimizer", None)
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        if hasattr(optimizer, "optimizers"):
            return {f"learning_rate_{one.name}": _number(one.learning_rate) for one in optimizer.optimizers}
        return {"learning_rate": _number(optimizer.learning_rate)} if hasattr(optimizer, "learning_rate") else {}

    def _log_weights(self, epoch: int) -> None:
        with self._train_writer.as_default(), summary.record_if(True):
            for layer in self.model.layers:
                for weight in layer.weights:
                    name = weight.path.replace(":", "_")
                    data = ops.convert_to_numpy(weight)
                    summary.histogram(f"{name}/histogram", data, step=epoch)
                    if self.write_images:
                        self._log_picture(f"{name}/image", data, epoch)
        self._train_writer.flush()

    @staticmethod
    def _log_picture(name: str, data: Any, epoch: int) -> None:
        """A bias is a column, a kernel lies on its longer side, a convolution shows one picture a channel."""
        import keras

        data = data.squeeze()
        if data.ndim == 1:
            data = data.reshape(1, -1, 1, 1)
        elif data.ndim == 2:
            data = data.T if data.shape[0] > data.shape[1] else data
            data = data[None, :, :, None]
        elif data.ndim == 3:
            data = data.transpose(2, 0, 1) if keras.config.image_data_format() == "channels_last" else data
            data = data[..., None]
        if data.ndim == 4 and data.shape[-1] in (1, 3, 4):
            summary.image(name, data, step=epoch)

    def _configure_embeddings(self) -> None:
        from keras.layers import Embedding

        names = self.embeddings_metadata
        left = dict(names) if isinstance(names, dict) else {}
        config = ProjectorConfig()
        self._embedding_layers = [layer for layer in self.model.layers if isinstance(layer, Embedding)]
        for layer in self._embedding_layers:
            info = config.embeddings.add(tensor_name="layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE")
            if len(self._embedding_layers) > 1:
                info.tensor_name = f"{layer.name}/embeddings"  # the original gives all of them the same name
            if isinstance(names, str):
                info.metadata_path = names
            elif layer.name in left:
                info.metadata_path = left.pop(layer.name)
            info.tensor_path = f"train/{layer.name}.tsv"
        if left:
            raise ValueError(
                "Unrecognized `Embedding` layer names passed to `keras.callbacks.TensorBoard` "
                f"`embeddings_metadata` argument: {left.keys()}"
            )
        visualize_embeddings(self.log_dir, config)

    def _log_embeddings(self, epoch: int) -> None:
        """The checkpoint the original writes, and beside it the vectors as text, which the projector can read."""
        os.makedirs(self._train_dir, exist_ok=True)
        self.model.save_weights(os.path.join(self._train_dir, f"keras_embedding.ckpt-{epoch}.weights.h5"))
        for layer in self._embedding_layers:
            path = os.path.join(self._train_dir, f"{layer.name}.tsv")
            rows = ops.convert_to_numpy(layer.embeddings).tolist()
            with open(path + ".new", "w", encoding="utf-8") as file:
                file.writelines("\t".join(map(repr, row)) + "\n" for row in rows)
            os.replace(path + ".new", path)

    def _finish_profile(self) -> None:
        profile, self._profile = self._profile, None
        graphs = profile.stop()  # type: ignore[union-attr]
        if graphs is not None:
            with self._train_writer.as_default(), summary.record_if(True):
                summary._run_metadata(f"batch_{self._stop_batch}", graphs, self._stop_batch)
