"""Writes numerics of any program as the files of TensorFlow's debugger (tfdbg V2), which TensorBoard and Sonde open.

What that format cannot hold (training steps, rms and extremes, histograms) goes into fields that other readers skip.
A file that cannot be written, or a disk limit that is reached, ends the recording with one warning, never the program.
"""

from __future__ import annotations

import functools
import linecache
import os
import socket
import struct
import sys
import threading
import time
import uuid
import warnings

from . import _sonde
from ._wire import Message, varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

KINDS = ("metadata", "source_files", "stack_frames", "graphs", "execution", "graph_execution_traces")
FULL_HEALTH = 4
DTYPES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "int64": 9,
    "bool": 10,
    "bfloat16": 14,
    "float16": 19,
    "float8_e5m2": 24,
    "float8_e4m3fn": 25,
}
MOST_SOURCE_BYTES = 4 << 20
_LIBRARY = ("site-packages", "dist-packages", f"{os.sep}lib{os.sep}python3", "<frozen", "<string>")
_HERE = os.path.dirname(os.path.abspath(__file__))

Frame = tuple[str, int, str]  # path, line, function


@functools.cache
def is_own(path: str) -> bool:
    """A file of the user's own program, not of a library."""
    return not path.startswith((_HERE, "<")) and not any(mark in path for mark in _LIBRARY)


def user_stack(depth: int = 1) -> tuple[Frame, ...]:
    """The caller's own frames, outermost first; library frames are left out."""
    frames: list[Frame] = []
    frame: Any = sys._getframe(depth)
    while frame is not None and len(frames) < 64:
        path = frame.f_code.co_filename
        if is_own(path):
            frames.append((path, frame.f_lineno, frame.f_code.co_name))
        frame = frame.f_back
    return tuple(reversed(frames))


class Place:
    """user_stack() of a place that is passed often: walked again only when another line of the user's stands there."""

    def __init__(self) -> None:
        self._innermost: tuple[Any, int] | None = None
        self._stack: tuple[Frame, ...] = ()

    def stack(self, depth: int = 1) -> tuple[Frame, ...]:
        frame: Any = sys._getframe(depth + 1)
        while frame is not None and not is_own(frame.f_code.co_filename):
            frame = frame.f_back
        innermost = None if frame is None else (frame.f_code, frame.f_lineno)
        if innermost is None or innermost != self._innermost:
            self._innermost, self._stack = innermost, user_stack(depth + 1)
        return self._stack


class Stats(tuple["Any", ...]):
    """What _sonde.tensor_stats counts: size, -inf, +inf, nan, negative, zero, positive, rms, min, max, mean, subnormal,
    beyond fp16, bf16, fp8, exponents."""

    __slots__ = ()

    @property
    def bad(self) -> bool:
        return bool(self[1] or self[2] or self[3])

    @property
    def level(self) -> int:
        return 2 if self[3] else 1 if self[1] or self[2] else 0


def stats_of(array: Any, histogram: bool = False) -> Stats | None:
    """Of anything that speaks DLPack or the buffer protocol and lies in main memory."""
    found = _sonde.tensor_stats(array, histogram)
    return None if found is None else Stats(found)


class DumpWriter:
    """One file set. All methods may be called from any thread; nothing they do raises."""

    def __init__(
        self,
        folder: str,
        framework: str,
        version: str = "",
        rank: int | None = None,
        run_id: str = "",
        max_bytes: int = 2 << 30,
    ) -> None:
        self._lock = threading.RLock()
        self._pending: dict[str, list[bytes]] = {kind: [] for kind in KINDS}
        self.buffer = _sonde.TraceBuffer()
        self._rows: dict[tuple[str, str, int], int] = {}
        self._sources: dict[str, int] = {}
        self._frames: dict[Frame, str] = {}
        self._ops: dict[tuple[str, str], list[int]] = {}
        self._calls: dict[str, bytes] = {}
        self._tensors = 0
        self._written = 0
        self.max_bytes = max_bytes
        self.problem = ""
        self.host = socket.gethostname()
        host = self.host if rank is None else f"{self.host}-rank{rank}"
        self.prefix = os.path.join(folder, f"tfdbg_events.{int(time.time())}.{host}")
        self.run_id = run_id or str(uuid.uuid4())
        try:
            os.makedirs(folder, exist_ok=True)
            number = 0
            while os.path.exists(self.prefix + ".metadata"):  # two recordings of one second
                number += 1
                self.prefix = os.path.join(folder, f"tfdbg_events.{int(time.time())}.{host}-{number}")
        except OSError as error:
            self._fail(error)
        meta = Message().text(1, f"{framework} {version}".strip()).text(2, "debug.Event:1").text(3, self.run_id)
        meta.text(30, framework)
        if rank is not None:
            meta.varint(31, rank)
        # Readers take a folder for a dump as soon as the metadata are there: the other files come first.
        for kind in KINDS[1:]:
            self._write(kind, b"")
        self._add("metadata", 3, meta)
        self.flush()
        self._device(0, "/device:CPU:0")

    def _fail(self, error: object) -> None:
        if not self.problem:
            self.problem = str(error)
            warnings.warn(f"sonde.debug stops recording: {error}", RuntimeWarning, stacklevel=4)

    def note(self, text: str) -> None:
        """Says what the recording does not show; it goes on."""
        warnings.warn(f"sonde.debug: {text[:1000]}", RuntimeWarning, stacklevel=4)

    def _add(self, kind: str, field: int, body: Message, step: int | None = None, wall: float | None = None) -> None:
        event = Message().double(1, time.time() if wall is None else wall)
        if step is not None:
            event.varint(2, step)
        event.bytes(field, body)
        self._pending[kind].append(bytes(event))

    def _write(self, kind: str, data: bytes) -> None:
        if self.problem:
            return
        if self._written + len(data) > self.max_bytes:
            self._fail(f"the recording has reached {self.max_bytes} bytes (max_bytes)")
            return
        try:
            with open(f"{self.prefix}.{kind}", "ab") as file:
                file.write(data)
            self._written += len(data)
        except OSError as error:
            self._fail(error)

    def flush(self) -> None:
        with self._lock:
            for kind in KINDS:  # references before what refers to them
                payloads, self._pending[kind] = self._pending[kind], []
                if payloads:
                    self._write(kind, _sonde.frames(payloads))
            self.write_traces(self.buffer.take())

    close = flush

    def write_traces(self, framed: bytes) -> None:
        """Records that the buffer gave."""
        if framed:
            with self._lock:
                self._write("graph_execution_traces", framed)

    def _device(self, number: int, name: str) -> None:
        self._add("graphs", 12, Message().text(1, name).varint(2, number))

    def _source(self, path: str) -> int:
        index = self._sources.get(path)
        if index is None:
            index = self._sources[path] = len(self._sources)
            body = Message().text(1, path).text(2, self.host)
            size = 0
            for line in linecache.getlines(path) if is_own(path) else ():
                size += len(line)
                if size > MOST_SOURCE_BYTES:
                    break
                body.bytes(3, line.rstrip("\n").encode("utf-8", "replace"))
            self._add("source_files", 4, body)
        return index

    def _frame(self, frame: Frame) -> str:
        known = self._frames.get(frame)
        if known is None:
            known = self._frames[frame] = str(uuid.uuid4())
            path, line, function = frame
            place = Message().varint(1, self._source(path)).varint(2, line).text(4, function)
            self._add("stack_frames", 6, Message().text(1, known).bytes(2, place))
        return known

    def _location(self, stack: Iterable[Frame]) -> Message:
        body = Message().text(1, self.host)
        for frame in stack:
            body.text(2, self._frame(frame))
        return body

    def graph(self, name: str, outer: str = "") -> str:
        """Adds a graph and gives its id."""
        with self._lock:
            graph_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.run_id}/{name}"))
            self._add("graphs", 8, Message().text(1, graph_id).text(2, name).text(6, outer))
            return graph_id

    def op(
        self,
        graph: str,
        kind: str,
        name: str,
        inputs: Iterable[str] = (),
        stack: Iterable[Frame] = (),
        outputs: int = 1,
    ) -> None:
        """Adds an op; a second one of the same name is ignored."""
        with self._lock:
            if (graph, name) in self._ops:
                return
            ids = list(range(self._tensors, self._tensors + outputs))
            self._tensors += outputs
            self._ops[graph, name] = ids
            body = Message().text(1, kind).text(2, name).text(4, graph)
            for source in inputs:
                body.text(6, source)
            body.varint(7, outputs).bytes(8, self._location(stack)).packed(9, ids)
            self._add("graphs", 7, body)

    def has_op(self, graph: str, name: str) -> bool:
        return (graph, name) in self._ops

    def trace(
        self,
        graph: str,
        op: str,
        stats: Sequence[Any],
        step: int,
        dtype: str = "float32",
        rank: int = 1,
        slot: int = 0,
        wall: float | None = None,
    ) -> None:
        """One tensor of one step."""
        with self._lock:
            wall = time.time() if wall is None else wall
            self.buffer.add_stats(self.row(graph, op, slot), tuple(stats), DTYPES.get(dtype, 1), rank, step, wall)

    def row(self, graph: str, op: str, slot: int = 0) -> int:
        """By which the buffer knows an output of an op."""
        key = (graph, op, slot)
        number = self._rows.get(key)
        if number is None:
            ids = self._ops.get((graph, op), [-1])
            tensor = ids[slot] if slot < len(ids) else -1
            number = self._rows[key] = self.buffer.op(graph, op, slot, tensor)
        return number

    def execution(self, name: str, graph: str, step: int) -> None:
        """A step as a call of a graph: TensorBoard's timeline shows it."""
        with self._lock:
            rest = self._calls.get(graph)  # the same in every step
            if rest is None:
                rest = bytes(Message().text(3, graph).varint(6, FULL_HEALTH).bytes(8, self._location(())))
                self._calls[graph] = rest
            text = name.encode()
            body = b"".join((b"\x0a", varint(len(text)), text, rest))
            head = struct.pack("<Bd", 9, time.time())
            self._pending["execution"].append(b"".join((head, b"\x10", varint(step), b"\x4a", varint(len(body)), body)))

