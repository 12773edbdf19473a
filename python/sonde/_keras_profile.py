"""profile_batch of the Keras callback: each backend's own profiler, started and stopped around some batches."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import sys
import time
from typing import Any

log = logging.getLogger("sonde")


def batch_range(profile_batch: Any) -> tuple[int, int]:
    """0, n, (a, b), [a, b], "a,b" or "n" as first and last batch; (0, 0) is off."""
    problem = ValueError(
        "profile_batch must be a non-negative integer or 2-tuple of positive integers. A pair of positive integers "
        f"signifies a range of batches to profile. Found: {profile_batch}"
    )
    given = profile_batch
    if isinstance(given, str):
        try:
            given = [int(part) for part in given.split(",")]
        except ValueError:
            raise problem from None
        given = given[0] if len(given) == 1 else given
    if isinstance(given, int):
        given = (given, given)
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        raise problem
    first, last = int(given[0]), int(given[1])
    if first < 0 or last < first:
        raise problem
    return first, last


class Profile:
    """One capture. Trouble with a profiler is logged and never ends training."""

    def __init__(self, folder: str) -> None:
        import keras

        self._folder = folder
        self._backend = keras.config.backend()
        self._running: Any = None
        self._step: Any = None

    def start(self) -> None:
        try:
            self._running = getattr(self, f"_start_{self._backend}", lambda: None)()
        except Exception as problem:
            log.error("the profiler could not be started: %s", problem)

    def begin_step(self, number: int) -> None:
        if not self._running:
            return
        if self._backend == "tensorflow":
            import tensorflow as tf  # type: ignore[import-not-found]

            self._step = tf.profiler.experimental.Trace("train", step_num=number, _r=1)
        elif self._backend == "jax":
            import jax  # type: ignore[import-not-found]

            self._step = jax.profiler.StepTraceAnnotation("train", step_num=number)
        if self._step is not None:
            self._step.__enter__()

    def end_step(self) -> None:
        step, self._step = self._step, None
        if step is not None:
            step.__exit__(None, None, None)
        if self._running and self._backend == "torch":
            self._running.step()

    def stop(self) -> bytes | None:
        """Ends the capture; returns TensorFlow's function graphs (RunMetadata) when there are some."""
        self.end_step() if self._backend != "torch" else None
        if not self._running:
            return None
        try:
            return getattr(self, f"_stop_{self._backend}")()
        except Exception as problem:
            log.error("the profiler could not be stopped: %s", problem)
            return None
        finally:
            self._running = None

    def _start_tensorflow(self) -> Any:
        import tensorflow as tf

        with contextlib.suppress(Exception):
            tf.summary.trace_on(graph=True, profiler=False)
        tf.profiler.experimental.start(self._folder)
        return True

    def _stop_tensorflow(self) -> bytes | None:
        import tensorflow as tf
        from tensorflow.python.eager import context  # type: ignore[import-not-found]

        tf.profiler.experimental.stop()
        graphs = context.context().export_run_metadata().SerializeToString()
        tf.summary.trace_off()
        return graphs

    def _start_jax(self) -> Any:
        import jax

        jax.profiler.start_trace(self._folder)
        return True

    def _stop_jax(self) -> None:
        sys.modules["jax"].profiler.stop_trace()

    def _start_torch(self) -> Any:
        import torch

        capture = torch.profiler.profile(record_shapes=True, profile_memory=True, with_stack=False)
        capture.__enter__()
        return capture

    def _stop_torch(self) -> None:
        self._running.__exit__(None, None, None)
        os.makedirs(self._folder, exist_ok=True)
        name = f"{socket.gethostname()}_{os.getpid()}.{time.time_ns() // 1_000_000}.pt.trace.json"
        self._running.export_chrome_trace(os.path.join(self._folder, name))
