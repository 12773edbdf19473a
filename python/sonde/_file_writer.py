"""The object behind SummaryWriter.file_writer: third-party code hands it finished summaries and events."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from . import _sonde
from ._arrays import to_step
from ._wire import Message

_SOURCE = "tensorboard.summary.writer.event_file_writer"


def serialized(message: Any) -> bytes:
    return message if isinstance(message, bytes) else message.SerializeToString()


class EventFileWriter:
    """tensorboard.summary.writer.event_file_writer.EventFileWriter over Sonde's writer."""

    def __init__(
        self,
        logdir: Any,
        max_queue_size: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
        purge_step: int | None = None,
        source: str = _SOURCE,
    ) -> None:
        self._logdir = os.fspath(logdir)
        # flush_secs is an upper bound: one second at most is ever at risk.
        interval = min(1.0, float(flush_secs)) if flush_secs else 1.0
        self._writer = _sonde.Writer(
            self._logdir,
            flush_interval_s=interval,
            filename_suffix=filename_suffix,
            purge_step=purge_step,
            source=source,
        )
        self._logdir = self._writer.folder  # file:// addresses name a folder

    def get_logdir(self) -> str:
        return self._logdir

    def add_event(self, event: Any) -> None:
        self._writer.add_event(serialized(event))

    def flush(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()

    def reopen(self) -> None:
        """Nothing to do: the next record opens a new file."""


def _event_writer_class() -> type[EventFileWriter]:
    """EventFileWriter, or the class derived from it that wandb's sync_tensorboard put in its place."""
    for name in ("torch.utils.tensorboard.writer", "tensorboardX.writer"):
        found = getattr(sys.modules.get(name), "EventFileWriter", None)
        if isinstance(found, type) and found is not EventFileWriter and issubclass(found, EventFileWriter):
            return found
    return EventFileWriter


class FileWriter:
    """torch.utils.tensorboard.FileWriter over Sonde's writer."""

    metadata_tag = "step1"  # of the RunMetadata beside a graph

    def __init__(
        self,
        log_dir: Any,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
        purge_step: int | None = None,
        source: str = _SOURCE,
    ) -> None:
        made = _event_writer_class()
        self.event_writer = made(str(log_dir), max_queue, flush_secs, filename_suffix, purge_step, source)
        self._writer = self.event_writer._writer

    def get_logdir(self) -> str:
        """The folder the events go to."""
        return self.event_writer.get_logdir()

    def add_summary(self, summary: Any, global_step: Any = None, walltime: float | None = None) -> None:
        """A serialized Summary at a step."""
        self._writer.add(serialized(summary), to_step(global_step), walltime)

    def add_event(self, event: Any, step: Any = None, walltime: float | None = None) -> None:
        """`event` is a protobuf Event; its time and step are filled in, as the original does."""
        if isinstance(event, bytes):
            # Later fields win when protobuf merges, so time and step go to the end.
            event += bytes(Message().double(1, time.time() if walltime is None else walltime))
            if step is not None:
                event += bytes(Message().varint(2, to_step(step)))
        else:
            event.wall_time = time.time() if walltime is None else walltime
            if step is not None:
                event.step = to_step(step)
        self._writer.add_event(serialized(event))

    def add_graph(self, graph_profile: Any, walltime: float | None = None) -> None:
        """A pair of GraphDef and RunMetadata."""
        graph, run_metadata = graph_profile[0], graph_profile[1]
        self.add_event(bytes(Message().bytes(4, serialized(graph))), None, walltime)
        tagged = Message().text(1, self.metadata_tag).bytes(2, serialized(run_metadata))
        self.add_event(bytes(Message().bytes(8, tagged)), None, walltime)

    def add_onnx_graph(self, graph: Any, walltime: float | None = None) -> None:
        """A GraphDef made from an ONNX file."""
        self.add_event(bytes(Message().bytes(4, serialized(graph))), None, walltime)

    def flush(self) -> None:
        """Hand over what is waiting."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what is waiting and close the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Go on in a new file after close()."""
        self.event_writer.reopen()
