"""tf.summary's shape without TensorFlow.

writer = sonde.summary.create_file_writer("logs/train")
with writer.as_default(step=7):
    sonde.summary.scalar("loss", 0.5)
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

from . import _sonde
from ._arrays import as_array, native, to_step
from ._deferred import deferrable
from ._deferred import name_scope as tensorflow_scope
from ._wire import Message, Summary, metadata, strings, value
from ._wire import summary as make_summary

__all__ = [
    "SummaryWriter",
    "audio",
    "create_file_writer",
    "create_noop_writer",
    "experimental",
    "flush",
    "graph",
    "histogram",
    "image",
    "mesh",
    "pr_curve",
    "record_if",
    "scalar",
    "should_record_summaries",
    "text",
    "trace_export",
    "trace_off",
    "trace_on",
    "video",
    "write",
]


class _State(threading.local):
    writer: Any = None
    step: Any = None
    recording: Any = True
    scope: str = ""


_state = _State()
_NO_STEP = (
    "No step set. Please specify one either through the `step` argument or through tf.summary.experimental.set_step()"
)


class SummaryWriter:
    """What create_file_writer returns."""

    def __init__(self, logdir: str, flush_millis: float, filename_suffix: str) -> None:
        self._closed = False
        self._native = _sonde.Writer(
            logdir,
            flush_interval_s=min(1.0, flush_millis / 1000),
            filename_suffix=filename_suffix,
            source="tensorflow.core.util.events_writer",
            whole_second_header=True,
        )

    def set_as_default(self, step: Any = None) -> None:
        """Make this the writer of all calls that follow."""
        self._check_open()
        _state.writer = self
        if step is not None:
            _state.step = step

    @contextlib.contextmanager
    def as_default(self, step: Any = None) -> Iterator[SummaryWriter]:
        """Makes this the default writer (and `step` the default step) inside the with statement."""
        self._check_open()
        before = _state.writer, _state.step
        _state.writer = self
        if step is not None:
            _state.step = step
        try:
            yield self
        finally:
            self.flush()
            _state.writer = before[0]
            if step is not None:
                _state.step = before[1]

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")

    def init(self) -> None:
        """The file exists already."""

    def flush(self) -> None:
        """Hand over what is waiting."""
        if not self._closed:
            self._native.flush()

    def close(self) -> None:
        """Write what is waiting and close the file."""
        self._closed = True
        self._native.close()

    def _add(self, summary: bytes, step: Any) -> bool:
        return not self._closed and self._native.add(summary, step)


class _NoopWriter(SummaryWriter):
    def __init__(self) -> None:
        self._closed = False

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self._closed = True

    def _add(self, summary: bytes, step: Any) -> bool:
        return False


def create_file_writer(
    logdir: Any,
    max_queue: Any = None,
    flush_millis: Any = None,
    filename_suffix: Any = None,
    name: Any = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """A writer for event files in a folder."""
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    millis = 120000 if flush_millis is None else float(flush_millis)
    return SummaryWriter(os.fspath(logdir), millis, ".v2" if filename_suffix is None else str(filename_suffix))


def create_noop_writer() -> SummaryWriter:
    """A writer that writes nothing."""
    return _NoopWriter()


@contextlib.contextmanager
def record_if(condition: Any) -> Iterator[None]:
    """Inside, summaries are recorded only while `condition` (a bool, a tensor or a callable) is true."""
    before = _state.recording
    _state.recording = condition
    try:
        yield
    finally:
        _state.recording = before


def should_record_summaries() -> bool:
    """Whether calls are recorded here: a default writer and record_if agree."""
    if _state.writer is None:
        return False
    condition = _state.recording
    return bool(condition() if callable(condition) else condition)


def _step(step: Any) -> int:
    step = _state.step if step is None else step
    if step is None:
        raise ValueError(_NO_STEP)
    if isinstance(step, float):
        raise TypeError("Cannot convert a float to the int64 of a step")
    return to_step(step)


def _record(kind: str, name: str, step: Any, build: Callable[[str], bytes]) -> bool:
    """Calls build(tag) and writes its summary if there is somewhere to write and recording is on."""
    if not should_record_summaries():
        return False
    at = _step(step)
    return _state.writer._add(build(tensorflow_scope() + _state.scope + (name or kind)), at)


@deferrable(_state, "scalar_summary")
def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """One number at a step."""
    if not should_record_summaries():
        return False
    if type(data) is not float:
        array = as_array(data)
        if array.ndim != 0:
            raise ValueError(f"Expected scalar shape, saw shape: {array.shape}.")
        if array.dtype.kind not in "fiub":
            raise ValueError(f"Cannot cast {array.dtype} to float")
        data = float(array)
    return _record(
        "scalar_summary", name, step, lambda tag: _sonde.scalar_summary(tag, _float32(data), description or "")
    )


def _float32(number: float) -> float:
    import struct

    try:
        return struct.unpack("<f", struct.pack("<f", number))[0]
    except OverflowError:
        return number  # the exact value travels beside the infinite float


@deferrable(_state, "histogram_summary")
def histogram(
    name: str, data: Any, step: Any = None, buckets: int | None = None, description: str | None = None
) -> bool:
    """A histogram of data's values in so many buckets of equal width."""
    def build(tag: str) -> bytes:
        return _sonde.histogram_summary(
            tag, native(_numeric(data)), 30 if buckets is None else int(buckets), description or ""
        )

    return _record("histogram_summary", name, step, build)


def _numeric(data: Any) -> Any:
    array = as_array(data() if callable(data) else data)
    return array.astype(float) if array.dtype.kind not in "fiub" else array


@deferrable(_state, "image_summary")
def image(name: str, data: Any, step: Any = None, max_outputs: int | None = 3, description: str | None = None) -> bool:
    """Images [k, height, width, channels], floats from 0 to 1 or bytes; at most max_outputs of them."""
    def build(tag: str) -> bytes:
        array = as_array(data() if callable(data) else data)
        if array.ndim != 4:
            raise ValueError(f"Shape {array.shape} must have rank 4")
        if array.dtype.name == "float16":  # TensorFlow scales half precision in half precision
            array = (array * array.dtype.type(255.5)).clip(0, 255).astype("uint8")
        return _sonde.image_summary(
            tag, native(array), 3 if max_outputs is None else int(max_outputs), description or ""
        )

    return _record("image_summary", name, step, build)


@deferrable(_state, "audio_summary")
def audio(
    name: str,
    data: Any,
    sample_rate: int,
    step: Any = None,
    max_outputs: int | None = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> bool:
    """Clips [k, frames, channels] with values from -1 to 1, written as WAV."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")

    def build(tag: str) -> bytes:
        array = as_array(data() if callable(data) else data)
        if array.ndim != 3:
            raise ValueError(f"Shape {array.shape} must have rank 3")
        return _sonde.audio_summary(
            tag, native(array), int(sample_rate), 3 if max_outputs is None else int(max_outputs), description or ""
        )

    return _record("audio_summary", name, step, build)


@deferrable(_state, "text_summary")
def text(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """A text or an array of texts, shown as Markdown."""
    def build(tag: str) -> bytes:
        cells, dims = _text_cells(data() if callable(data) else data)
        return make_summary(
            value(tag, tensor=strings(cells, dims), metadata=metadata("text", description=description or ""))
        )

    return _record("text_summary", name, step, build)


def _text_cells(data: Any) -> tuple[list[bytes], tuple[int, ...]]:
    if isinstance(data, (str, bytes)):
        return [data.encode() if isinstance(data, str) else data], ()
    import numpy as np

    array = np.asarray(data.numpy() if hasattr(data, "numpy") else data, dtype=object)
    cells = array.ravel().tolist()
    if not all(isinstance(c, (str, bytes)) for c in cells):
        raise TypeError("text summaries take strings")
    return [c.encode() if isinstance(c, str) else c for c in cells], array.shape


@deferrable(_state, "write")
def write(tag: str, tensor: Any, step: Any = None, metadata: Any = None, name: Any = None) -> bool:
    """A raw tensor with metadata of your own (a SummaryMetadata message or its bytes)."""
    if not should_record_summaries():
        return False
    at = _step(step)
    data = tensor() if callable(tensor) else tensor
    content = b"" if metadata is None else metadata if isinstance(metadata, bytes) else metadata.SerializeToString()
    array = None
    if not isinstance(data, (str, bytes)):
        array = as_array(data)
    if array is None or array.dtype.kind in "OSU":
        cells, dims = _text_cells(data)
        one = value(tag, tensor=strings(cells, dims))
        return _state.writer._add(make_summary(one.bytes(9, content) if content else one), at)
    made = _sonde.tensor_summary(tag, native(array))
    if content:
        # The value is the only field of the summary: metadata is appended inside it.
        from ._wire import varint

        inner = _only_value(made) + bytes(Message().bytes(9, content))
        made = b"\n" + varint(len(inner)) + inner
    return _state.writer._add(made, at)


def _only_value(summary: bytes) -> bytes:
    at = 1
    while summary[at] & 0x80:
        at += 1
    return summary[at + 1 :]


@deferrable(_state, "pr_curve_summary")
def pr_curve(
    name: str,
    labels: Any,
    predictions: Any,
    step: Any = None,
    num_thresholds: int = 201,
    weights: Any = None,
    description: str | None = None,
) -> bool:
    """Precision over recall at equally spaced thresholds (the V2 form of TensorBoard's pr_curves op)."""

    def build(tag: str) -> bytes:
        weight = None if weights is None else native(as_array(weights).astype(float))
        return _sonde.pr_curve_summary(
            tag, native(as_array(labels)), native(as_array(predictions)), weight, num_thresholds, description or ""
        )

    return _record("pr_curve_summary", name, step, build)


@deferrable(_state, "mesh_summary")
def mesh(
    name: str,
    vertices: Any,
    faces: Any = None,
    colors: Any = None,
    config_dict: Any = None,
    display_name: Any = None,
    description: str | None = None,
    step: Any = None,
) -> bool:
    """Points or triangles in space, [batch, n, 3], as tensorboard.plugins.mesh.summary.mesh."""
    import json

    import numpy as np

    def build(tag: str) -> bytes:
        return _sonde.mesh_summary(
            tag,
            native(as_array(vertices).astype(np.float32)),
            None if faces is None else native(as_array(faces).astype(np.int32)),
            None if colors is None else native(as_array(colors).astype(np.uint8)),
            json.dumps(config_dict, sort_keys=True) if config_dict else "{}",
            description or "",
        )

    return _record("mesh_summary", name, step, build)


@deferrable(_state, "video_summary")
def video(name: str, data: Any, step: Any = None, fps: float = 4, description: str | None = None) -> bool:
    """Frames [t, h, w, c] as an animated GIF, or the bytes of a finished GIF, MP4 or WebM."""

    def build(tag: str) -> bytes:
        if isinstance(data, bytes):
            return make_summary(
                value(
                    tag,
                    tensor=strings([b"0", b"0", data], [3]),
                    metadata=metadata("images", description=description or ""),
                )
            )
        return _sonde.video_summary(tag, native(as_array(data)), fps, description or "")

    return _record("video_summary", name, step, build)


def graph(graph_data: Any) -> bool:
    """A GraphDef message, its bytes, or a tf.Graph."""
    if not should_record_summaries():
        return False
    if hasattr(graph_data, "as_graph_def"):
        graph_data = graph_data.as_graph_def(add_shapes=True)
    data = graph_data if isinstance(graph_data, bytes) else graph_data.SerializeToString()
    import time

    writer = _state.writer
    if isinstance(writer, _NoopWriter):
        return False
    return writer._native.add_event(bytes(Message().double(1, time.time()).bytes(4, data)))


def keras_model(name: str, data: Any, step: Any = None) -> bool:
    """A Keras model as conceptual graph."""
    try:
        json_text = data.to_json()
    except Exception as problem:  # subclassed models have no configuration
        import warnings

        warnings.warn(f"Model failed to serialize as JSON. Ignoring... {problem}", stacklevel=2)
        return False

    def build(tag: str) -> bytes:
        return make_summary(
            value(tag, tensor=strings([json_text.encode()], []), metadata=metadata("graph_keras_model", b"1"))
        )

    return _record("keras", name, step, build)


def flush(writer: SummaryWriter | None = None) -> None:
    """Hand over what is waiting in a writer, the default one if none is given."""
    target = _state.writer if writer is None else writer
    if target is not None:
        target.flush()


def _tensorflow() -> Any:
    import sys

    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None:
        raise RuntimeError("tracing needs TensorFlow: import tensorflow first, or use your framework's own profiler")
    return tensorflow


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:
    """Begin to trace functions for trace_export."""
    _tensorflow().summary.trace_on(
        graph=graph, profiler=profiler, **({"profiler_outdir": profiler_outdir} if profiler_outdir else {})
    )


def trace_off() -> None:
    """Forget the trace that trace_on began."""
    _tensorflow().summary.trace_off()


def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """Writes what TensorFlow traced since trace_on() to the default writer."""
    from tensorflow.python.eager import context  # type: ignore[import-not-found]

    tensorflow = _tensorflow()
    _run_metadata(name, context.context().export_run_metadata().SerializeToString(), step)
    tensorflow.summary.trace_off()


def _run_metadata(name: str, run_metadata: bytes, step: Any) -> bool:
    """Function graphs of TensorFlow under the tag `name`."""

    def build(_: str) -> bytes:
        return make_summary(
            value(name, tensor=strings([run_metadata], []), metadata=metadata("graph_run_metadata_graph", b"1"))
        )

    return _record("trace", name, step, build)


class _Experimental:
    """tf.summary.experimental."""

    @staticmethod
    def get_step() -> Any:
        return _state.step

    @staticmethod
    def set_step(step: Any) -> None:
        _state.step = step

    @staticmethod
    @contextlib.contextmanager
    def summary_scope(name: str, default_name: str = "summary", values: Any = None) -> Iterator[tuple[str, str]]:
        with name_scope(name or default_name) as scope:
            yield scope.removesuffix("/"), scope

    @staticmethod
    def write_raw_pb(tensor: Any, step: Any = None, name: Any = None) -> bool:
        if not should_record_summaries():
            return False
        data = tensor.numpy() if hasattr(tensor, "numpy") else tensor
        return _state.writer._add(bytes(data), _step(step))


experimental = _Experimental()


@contextlib.contextmanager
def name_scope(name: str) -> Iterator[str]:
    """Tags inside are prefixed with `name/` (tf.name_scope)."""
    before = _state.scope
    _state.scope = before + name + "/"
    try:
        yield _state.scope
    finally:
        _state.scope = before


def scalar_pb(tag: str, data: Any, description: str | None = None) -> Summary:
    """The summary alone, as tensorboard.plugins.scalar.summary_v2.scalar_pb."""
    array = as_array(data)
    if array.shape != ():
        raise ValueError(f"Expected scalar shape for tensor, got shape: {array.shape}.")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"Cast expected float-like dtype, got {array.dtype.name}")
    return Summary(_sonde.scalar_summary(tag, _float32(float(array)), description or ""))
