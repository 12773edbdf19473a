"""sonde.keras.Numerics: names the op that made the first NaN of a fit(), on every backend of Keras 3.

On torch the step is watched by sonde.debug.watch, on jax the step function by sonde.debug.checked, on tensorflow
TensorFlow's own debugger records into a buffer that is written when the loss goes wrong and at the end.
"""

from __future__ import annotations

from typing import Any

import keras
from keras.callbacks import Callback

TENSORFLOW_BUFFER = 100_000  # traces, a few hundred bytes each


class Numerics(Callback):
    """Records the numerics of fit().

    every      on torch and jax: layers and parameters are recorded in every so many-th step; each step is checked
    ring       on torch: keep only so many recorded steps, and write them on an alert or at the end
    max_bytes  of disk, on torch and jax
    """

    def __init__(self, logdir: Any, every: int = 100, ring: int | None = None, max_bytes: int = 2 << 30) -> None:
        super().__init__()
        if isinstance(every, bool) or not isinstance(every, int) or every < 1:
            raise ValueError(f"every must be a whole number from 1 on, not {every!r}")
        backend = keras.backend.backend()
        made = {"torch": _Torch, "jax": _Jax, "tensorflow": _TensorFlow}.get(backend)
        if made is None:
            raise ValueError(f"sonde.keras.Numerics does not know the backend {backend!r}")
        self._recording: Any = made(str(logdir), every, ring, max_bytes)
        self._is_active = False

    def on_train_begin(self, logs: Any = None) -> None:
        self._recording.begin(self.model)
        self._is_active = True

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        loss = (logs or {}).get("loss")
        if self._is_active and isinstance(loss, float) and not (-float("inf") < loss < float("inf")):
            self._recording.alert()

    def on_train_end(self, logs: Any = None) -> None:
        if self._is_active:
            self._is_active = False
            self._recording.end(self.model)


class _Torch:
    def __init__(self, logdir: str, every: int, ring: int | None, max_bytes: int) -> None:
        self._options = (logdir, every, ring, True, max_bytes, None)
        self._watch: Any = None
        self._kept: tuple[Any, Any] = (None, None)

    def begin(self, model: Any) -> None:
        from ._torch_debug import Watch
        from ._torch_replay import Stop
        from ._torch_stats import is_bad

        optimizer = model.optimizer
        watch = self._watch = Watch(model, None, *self._options)
        watch._has_optimizer = True
        train_step, apply = self._kept = (model.train_step, optimizer.apply)

        def watched_step(*args: Any, **kwargs: Any) -> Any:
            return watch.step(train_step, *args, **kwargs)

        def watched_apply(grads: Any, *args: Any, **kwargs: Any) -> Any:
            if watch._is_replaying:
                raise Stop
            if any(is_bad(grad) for grad in [*grads[:2], *grads[2:][-2:]]):
                watch._alert(watch.steps, "gradient")
            out = apply(grads, *args, **kwargs)
            watch._end_step()
            return out

        object.__setattr__(model, "train_step", watched_step)
        object.__setattr__(optimizer, "apply", watched_apply)

    def alert(self) -> None:
        """The step itself was looked at."""

    def end(self, model: Any) -> None:
        object.__setattr__(model, "train_step", self._kept[0])
        object.__setattr__(model.optimizer, "apply", self._kept[1])
        self._watch.close()


class _Jax:
    def __init__(self, logdir: str, every: int, ring: int | None, max_bytes: int) -> None:
        self._logdir, self._every, self._max_bytes = logdir, every, max_bytes
        self._checked: Any = None

    def begin(self, model: Any) -> None:
        import jax

        from ._jax_debug import Checked

        # Keras gives the state's memory away with each call; a step that is to be run again needs it.
        function = model.train_step if model.run_eagerly or not model.jit_compile else jax.jit(model.train_step)
        checked = self._checked = Checked(function, self._logdir, 1, self._max_bytes)
        names = [v.path for v in model.trainable_variables]

        def step(state: Any, data: Any) -> Any:
            if checked.calls % self._every == 0:
                checked.record(zip(names, state[0], strict=False))
            return checked(state, data)

        model.train_function = model._make_function(step)

    def alert(self) -> None:
        """The step itself was looked at."""

    def end(self, model: Any) -> None:
        self._checked.writer.close()
        model.make_train_function(force=True)


class _TensorFlow:
    def __init__(self, logdir: str, every: int, ring: int | None, max_bytes: int) -> None:
        self._logdir = logdir
        self._writer: Any = None
        self._compiled: Any = None

    def begin(self, model: Any) -> None:
        import tensorflow as tf
        from tensorflow.python.debug.lib import debug_events_writer

        run_id = tf.debugging.experimental.enable_dump_debug_info(
            self._logdir, tensor_debug_mode="FULL_HEALTH", circular_buffer_size=TENSORFLOW_BUFFER
        )
        run = getattr(run_id, "tfdbg_run_id", "")
        self._writer = debug_events_writer.DebugEventsWriter(self._logdir, run, TENSORFLOW_BUFFER)
        # The debugger sees functions that are traced from now on, and none that XLA compiles.
        self._compiled, model.jit_compile = model.jit_compile, False
        model.make_train_function(force=True)

    def alert(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.FlushNonExecutionFiles()
            writer.FlushExecutionFiles()

    def end(self, model: Any) -> None:
        import tensorflow as tf

        tf.debugging.experimental.disable_dump_debug_info()
        model.jit_compile = self._compiled
        model.make_train_function(force=True)
