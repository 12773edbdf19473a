"""SummaryWriter: drop-in for torch.utils.tensorboard.SummaryWriter. Same calls, same files, no torch needed.

writer = sonde.SummaryWriter("runs/first")
writer.add_scalar("loss", 0.5, step)
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from . import _sonde
from . import _torch_summaries as make
from ._arrays import make_np, to_step
from ._file_writer import FileWriter

if TYPE_CHECKING:
    from typing_extensions import Self


def default_log_dir(comment: str) -> str:
    import socket
    from datetime import datetime

    return os.path.join("runs", datetime.now().strftime("%b%d_%H-%M-%S") + "_" + socket.gethostname() + comment)


class SummaryWriter(_sonde.ScalarLog):
    """Writes entries directly to event files in log_dir to be consumed by Sonde or TensorBoard."""

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        self.log_dir = log_dir or default_log_dir(comment)
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        step = None if purge_step is None else to_step(purge_step)
        self.file_writer: FileWriter | None = self._make_file_writer(os.fspath(self.log_dir), step)
        self.all_writers: dict[str, FileWriter] | None = {self.file_writer.get_logdir(): self.file_writer}
        self.purge_step = None
        self._first = self.file_writer
        self._embeddings: list[Any] = []
        self._problem = ""
        self._dropped = 0
        self.default_bins = _sonde.growing_edges()
        super().__init__(self.file_writer._writer)

    def _make_file_writer(self, folder: str, purge_step: int | None = None) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix, purge_step)

    def _get_file_writer(self) -> FileWriter:
        """The writer of log_dir. After close() the next record opens a new file in the same directory."""
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = self._first
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
        return self.file_writer

    def get_logdir(self) -> str:
        """The folder the events go to."""
        return self.log_dir  # type: ignore[return-value]

    def _add(self, summary: bytes, global_step: Any = None, walltime: float | None = None) -> None:
        self._get_file_writer().add_summary(summary, global_step, walltime)

    def _number(self, value: Any) -> float:
        if isinstance(value, (bool, int, float, str)):
            return float(value)
        array = make_np(value).squeeze()
        if array.ndim != 0:
            raise AssertionError(
                f"Tensor should contain one element (0 dimensions).             Was given size: {array.size} and {array.ndim} dimensions."
            )
        return float(array)

    # add_scalar(tag, scalar_value, global_step=None, walltime=None, new_style=False, double_precision=False) is
    # native and comes here with everything that is not a plain number.
    def _add_scalar(
        self, tag: Any, value: Any, step: Any, walltime: Any, new_style: bool, double_precision: bool
    ) -> None:
        number, at = self._number(value), to_step(step)
        tag = "" if tag is None else tag
        walltime = None if walltime is None else float(walltime)
        writer = self._get_file_writer()._writer
        if new_style:
            writer.add(make.scalar(tag, number, True, double_precision), at, walltime)
        else:
            writer.rounded_scalar(tag, number, at, walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        """Several curves in one chart: each gets a run of its own, `<log_dir>/<main_tag>_<name>`."""
        walltime = time.time() if walltime is None else walltime
        base = self._get_file_writer().get_logdir()
        for name, value in tag_scalar_dict.items():
            folder = base + "/" + main_tag.replace("/", "_") + "_" + name
            self._curve_of(folder, main_tag, self._number(value), global_step, walltime)

    def _curve_of(self, folder: str, tag: str, number: float, step: Any, walltime: float) -> None:
        """A point of a curve that has a run of its own."""
        writer = self.all_writers.get(folder)  # type: ignore[union-attr]
        if writer is None:
            writer = self.all_writers[folder] = self._make_file_writer(folder)  # type: ignore[index]
        writer._writer.rounded_scalar(tag, number, to_step(step), float(walltime))

    def add_tensor(self, tag: str, tensor: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """A tensor of any type and shape; no dashboard of TensorBoard shows it, `sonde.load` gives it back."""
        self._add(make.tensor(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: Any = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """A histogram of an array's values. bins: "tensorflow" (its fixed limits), or what numpy.histogram takes."""
        bins = None if isinstance(bins, str) and bins == "tensorflow" else bins
        self._add(make.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: int,
        sum: float,
        sum_squares: float,
        bucket_limits: Any,
        bucket_counts: Any,
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """A histogram that was counted elsewhere; bucket_limits are the right edges."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        self._add(
            make.histogram_raw(tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts),
            global_step,
            walltime,
        )

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """One image, as floats from 0 to 1 or bytes; dataformats names the axes, as CHW, HWC or HW."""
        self._add(make.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """A batch as one picture, eight to a row."""
        self._add(make.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: Any = None,
    ) -> None:
        """An image with frames drawn into it: box_tensor is [n, 4] with x0, y0, x1, y1 in pixels."""
        if labels is not None:
            labels = [labels] if isinstance(labels, str) else labels
            labels = labels if len(labels) == box_tensor.shape[0] else None
        self._add(make.image(tag, img_tensor, dataformats, rescale, box_tensor, labels), global_step, walltime)

    def add_figure(
        self, tag: str, figure: Any, global_step: Any = None, close: bool = True, walltime: float | None = None
    ) -> None:
        """A Matplotlib figure, or a list of them as a grid."""
        if isinstance(figure, list):
            import numpy as np

            self.add_image(
                tag, np.stack([make.figure_pixels(f, close) for f in figure]), global_step, walltime, dataformats="NHWC"
            )
        else:
            self.add_image(tag, make.figure_pixels(figure, close), global_step, walltime, dataformats="HWC")

    def add_video(
        self, tag: str, vid_tensor: Any, global_step: Any = None, fps: float = 4, walltime: float | None = None
    ) -> None:
        """[n, t, c, h, w] as an animated GIF; no moviepy needed."""
        self._add(make.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """A clip with values from -1 to 1, written as WAV."""
        self._add(make.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(self, tag: str, text_string: str, global_step: Any = None, walltime: float | None = None) -> None:
        """A text, shown as Markdown."""
        self._add(make.text(tag, text_string), global_step, walltime)

    def add_onnx_graph(self, prototxt: Any) -> None:
        """The graph of an ONNX file."""
        from ._onnx_graph import graph_def

        self._get_file_writer().add_onnx_graph(graph_def(prototxt))

    def add_graph(
        self, model: Any, input_to_model: Any = None, verbose: bool = False, use_strict_trace: bool = True
    ) -> None:
        """A model's graph: traced with input_to_model, else exported or listed by modules. Never raises into training."""
        from ._torch_graph import graph

        made, note = graph(model, input_to_model, verbose, use_strict_trace)
        if note:
            self._lost(note, counts=made is None)
        if made is not None:
            self._get_file_writer().add_graph(made)

    @staticmethod
    def _encode(rawstr: str) -> str:
        return rawstr.replace("%", "%25").replace("/", "%2f").replace("\\", "%5c")

    def add_embedding(
        self,
        mat: Any,
        metadata: Any = None,
        label_img: Any = None,
        global_step: Any = None,
        tag: str = "default",
        metadata_header: Any = None,
    ) -> None:
        """Points for the projector, a row each, with labels, their header and pictures if given."""
        from .projector import ProjectorConfig, visualize_embeddings, write_embedding

        step = 0 if global_step is None else global_step
        subdir = f"{str(step).zfill(5)}/{self._encode(tag)}"
        folder = self._get_file_writer().get_logdir()
        try:
            entry = write_embedding(folder, subdir, make_np(mat), metadata, label_img, metadata_header)
            entry.tensor_name = f"{tag}:{str(step).zfill(5)}"
            self._embeddings.append(entry)
            visualize_embeddings(folder, ProjectorConfig(embeddings=self._embeddings))
        except OSError as problem:
            self._lost(f"embedding '{tag}' of step {step} is lost: {problem}")

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """A precision-recall curve from labels (0 or 1) and predictions (0 to 1)."""
        self._add(
            make.pr_curve(tag, make_np(labels), make_np(predictions), num_thresholds, weights), global_step, walltime
        )

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: Any = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """A precision-recall curve that was counted elsewhere."""
        rows = (
            true_positive_counts,
            false_positive_counts,
            true_negative_counts,
            false_negative_counts,
            precision,
            recall,
        )
        self._add(make.pr_curve_raw(tag, rows, num_thresholds), global_step, walltime)

    def add_custom_scalars_multilinechart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """A chart of several curves on the Custom Scalars page; tags may be regular expressions."""
        self._add(make.custom_scalars({category: {title: ["Multiline", tags]}}))

    def add_custom_scalars_marginchart(
        self, tags: list[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """A chart of a curve with its lower and upper bound: tags is [value, lower, upper]."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self._add(make.custom_scalars({category: {title: ["Margin", tags]}}))

    def add_custom_scalars(self, layout: dict[str, dict[str, list[Any]]]) -> None:
        """The layout of the Custom Scalars page: {category: {chart: ["Multiline" or "Margin", [tags]]}}."""
        self._add(make.custom_scalars(layout))

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: Any = None,
        global_step: Any = None,
        walltime: float | None = None,
    ) -> None:
        """A point cloud or mesh: vertices [batch, n, 3], with colours and faces of the same batch if given."""
        self._add(make.mesh(tag, vertices, colors, faces, config_dict), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: Any = None,
    ) -> None:
        """A trial for the hyperparameter dashboard, in a run of its own below log_dir."""
        summaries = make.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        self._write_trial(run_name, summaries, global_step, metric_dict, global_step)

    def _write_trial(
        self, name: str | None, summaries: tuple[bytes, ...], step: Any, metrics: dict[str, Any], metric_step: Any
    ) -> None:
        writer = self._make_file_writer(os.path.join(self._get_file_writer().get_logdir(), name or str(time.time())))
        for one in summaries:
            writer.add_summary(one, step)
        for tag, value in metrics.items():
            writer._writer.rounded_scalar(tag, self._number(value), to_step(metric_step))
        writer.close()

    @property
    def problem(self) -> str:
        """What is wrong with the log, or an empty text. Logging never raises because of the disk."""
        return next((w._writer.problem for w in self._writers() if w._writer.problem), self._problem)

    @property
    def dropped(self) -> int:
        """How many records were lost so far."""
        return self._dropped + sum(w._writer.dropped for w in self._writers())

    def _lost(self, problem: str, counts: bool = True) -> None:
        """Training goes on; the loss is said once, and counted."""
        self._dropped += counts
        if problem != self._problem:
            print(f"sonde: logging: {problem}", file=sys.stderr)
        self._problem = problem

    def flush(self) -> None:
        """Return when everything logged so far has been written."""
        for writer in self._writers():
            writer.flush()

    def close(self) -> None:
        """Write what is left. A later call opens new files."""
        for writer in self._writers():
            writer.close()
        self.file_writer = self.all_writers = None

    def _writers(self) -> list[FileWriter]:
        # add_scalar may have written after close(), which leaves only the first writer to look after.
        return [self._first] if self.all_writers is None else list(self.all_writers.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
