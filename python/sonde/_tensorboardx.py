"""tensorboardX.SummaryWriter where it differs from torch's: tags are cleaned, add_scalars nests directories, bools
stay bools, scalars can carry a display name and a description."""

# mypy: disable-error-code="override"
from __future__ import annotations

import contextlib
import json
import logging
import os
import re
import time
from collections.abc import Iterator
from typing import Any

from . import _torch_summaries as make
from ._arrays import make_np, to_step
from ._file_writer import FileWriter
from ._wire import Message, metadata, summary
from .writer import SummaryWriter as TorchSummaryWriter
from .writer import default_log_dir

log = logging.getLogger("sonde")


def clean_tag(tag: Any) -> Any:
    if tag is None:
        return ""
    cleaned = re.sub(r"[^-/\w.]", "_", tag).lstrip("/")
    if cleaned != tag:
        log.info("Summary name %s is illegal; using %s instead.", tag, cleaned)
    return cleaned


def as_data(x: Any) -> Any:
    """tensorboardX takes Python lists where torch insists on arrays."""
    if isinstance(x, list):
        import numpy as np

        return np.array(x)
    return x


def as_pixels(image: Any) -> Any:
    """tensorboardX multiplies everything but uint8 by 255 and cuts, whatever its type and range."""
    import numpy as np

    pixels = make_np(as_data(image))
    if pixels.dtype == np.uint8:
        return pixels
    with np.errstate(invalid="ignore"):
        return (pixels * 255.0).astype(np.uint8)


class _Nowhere:
    """write_to_disk=False."""

    def add(self, *_: Any) -> bool:
        return True

    add_event = rounded_scalar = flush = close = add


class _NoFile(FileWriter):
    def __init__(self, folder: str) -> None:
        self._folder, self._writer = folder, _Nowhere()  # type: ignore[assignment]
        self.event_writer = self  # type: ignore[assignment]

    def get_logdir(self) -> str:
        return self._folder

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass


class SummaryWriter(TorchSummaryWriter):
    """Drop-in for tensorboardX.SummaryWriter."""

    def __init__(
        self,
        logdir: Any = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
        write_to_disk: bool = True,
        log_dir: Any = None,
        comet_config: Any = None,
        **kwargs: Any,
    ) -> None:
        folder = logdir or log_dir or default_log_dir(comment)
        self.logdir = folder
        self._on_disk = write_to_disk
        self.kwargs = kwargs
        self.scalar_dict: dict[str, list[list[Any]]] = {}
        self._default_step: Any = None
        self._default_time: Any = None
        super().__init__(folder, comment, purge_step, max_queue, flush_secs, filename_suffix)

    def _make_file_writer(self, folder: str, purge_step: int | None = None) -> FileWriter:
        if not self._on_disk:
            return _NoFile(folder)
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix, purge_step, source="")

    def _at(self, step: Any, walltime: Any) -> tuple[Any, Any]:
        return self._default_step if step is None else step, self._default_time if walltime is None else walltime

    def _add(self, made: bytes, global_step: Any = None, walltime: float | None = None) -> None:
        super()._add(made, *self._at(global_step, walltime))

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: Any = None,
        walltime: Any = None,
        display_name: str = "",
        summary_description: str = "",
    ) -> None:
        step, walltime = self._at(global_step, walltime)
        tag, number = clean_tag(tag), self._number(scalar_value)
        if display_name or summary_description:
            value = Message().text(1, tag).float(2, make._float32(number))
            value.bytes(9, metadata(display_name=display_name, description=summary_description))
            self._add(summary(value), step, walltime)
        else:
            self._get_file_writer()._writer.rounded_scalar(tag, number, to_step(step), walltime)

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: dict[str, Any], global_step: Any = None, walltime: float | None = None
    ) -> None:
        step, walltime = self._at(global_step, walltime)
        walltime = time.time() if walltime is None else walltime
        base, tag = self._get_file_writer().get_logdir(), clean_tag(main_tag)
        for name, value in tag_scalar_dict.items():
            folder = os.path.join(base, main_tag, name)  # as given: only the tag is cleaned
            self._curve_of(folder, tag, self._number(value), step, walltime)
            self.scalar_dict.setdefault(folder, []).append([walltime, global_step, self._number(value)])

    def _number(self, value: Any) -> float:
        return super()._number(as_data(value))

    def export_scalars_to_json(self, path: Any) -> None:
        """What add_scalars logged so far, by directory."""
        with open(path, "w") as file:
            json.dump(self.scalar_dict, file)
        self.scalar_dict = {}

    def add_hparams(
        self, hparam_dict: dict[str, Any], metric_dict: dict[str, Any], name: str | None = None, global_step: Any = None
    ) -> None:
        summaries = make.hparams(hparam_dict, metric_dict, real_bools=True)
        metrics = {clean_tag(tag): value for tag, value in metric_dict.items()}
        self._write_trial(name, summaries, None, metrics, global_step)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        if isinstance(img_tensor, list):
            import numpy as np

            if dataformats.upper() not in ("CHW", "HWC"):
                print("A list of image is passed, but the dataformat is neither CHW nor HWC.")
                print("Nothing is written.")
                return
            img_tensor, dataformats = np.stack([make_np(one) for one in img_tensor]), "N" + dataformats
        super().add_images(clean_tag(tag), as_pixels(img_tensor), global_step, walltime, dataformats)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: Any = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        super().add_image(clean_tag(tag), as_pixels(img_tensor), global_step, walltime, dataformats)

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
        image, boxes = as_pixels(img_tensor), as_data(box_tensor)
        super().add_image_with_boxes(clean_tag(tag), image, boxes, global_step, walltime, rescale, dataformats, labels)

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
        made = make.mesh(tag, as_data(vertices), as_data(colors), as_data(faces), config_dict, numbered=True)
        self._add(made, global_step, walltime)

    def add_graph(self, *args: Any, **kwargs: Any) -> None:
        self._get_file_writer().metadata_tag = "profiler"
        super().add_graph(*args, **kwargs)

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: Any = None,
        fps: float = 4,
        walltime: float | None = None,
        dataformats: str = "NTCHW",
    ) -> None:
        array = make_np(vid_tensor).transpose([dataformats.upper().find(axis) for axis in "NTCHW"])
        super().add_video(clean_tag(tag), array, global_step, fps, walltime)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: Any = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        # tensorboardX encodes with libsndfile, which rounds x * 32768 down.
        import numpy as np

        clip = make_np(snd_tensor).squeeze()
        levels = np.floor(np.clip(clip, -1, 1) * 32768).clip(-32768, 32767)
        self._add(make.audio(clean_tag(tag), levels / 32768, sample_rate, torch_scale=False), global_step, walltime)

    @contextlib.contextmanager
    def use_metadata(self, *, global_step: Any = None, walltime: Any = None) -> Iterator[None]:
        """Step and time for the calls inside that give none."""
        before = self._default_step, self._default_time
        self._default_step, self._default_time = global_step, walltime
        try:
            yield
        finally:
            self._default_step, self._default_time = before


def _cleaning(name: str) -> Any:
    original = getattr(TorchSummaryWriter, name)

    def method(self: SummaryWriter, tag: str, *args: Any, **kwargs: Any) -> None:
        kwargs.update((k, as_data(v)) for k, v in kwargs.items() if k != "bins")
        data = [as_data(v) if i < 2 else v for i, v in enumerate(args)]  # behind them: step, bins, time
        original(self, clean_tag(tag), *data, **kwargs)

    method.__name__, method.__doc__ = name, original.__doc__
    return method


for _name in (
    "add_histogram",
    "add_histogram_raw",
    "add_pr_curve",
    "add_pr_curve_raw",
):
    setattr(SummaryWriter, _name, _cleaning(_name))


class GlobalSummaryWriter(SummaryWriter):
    """One writer for the whole program; calls count their own steps."""

    _instance: GlobalSummaryWriter | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.pop("coalesce_process", None)
        super().__init__(*args, **kwargs)
        self._counts: dict[str, int] = {}
        GlobalSummaryWriter._instance = self

    @staticmethod
    def getSummaryWriter() -> GlobalSummaryWriter:
        return GlobalSummaryWriter._instance or GlobalSummaryWriter()

    def _next(self, tag: str) -> int:
        self._counts[tag] = self._counts.get(tag, -1) + 1
        return self._counts[tag]

    def add_scalar(self, tag: str, scalar_value: Any, walltime: Any = None) -> None:
        super().add_scalar(tag, scalar_value, self._next(tag), walltime)

    def add_image(self, tag: str, img_tensor: Any, walltime: Any = None, dataformats: str = "CHW") -> None:
        super().add_image(tag, img_tensor, self._next(tag), walltime, dataformats)

    def add_audio(self, tag: str, snd_tensor: Any, sample_rate: int = 44100, walltime: Any = None) -> None:
        super().add_audio(tag, snd_tensor, self._next(tag), sample_rate, walltime)

    def add_text(self, tag: str, text_string: str, walltime: Any = None) -> None:
        super().add_text(tag, text_string, self._next(tag), walltime)
