"""Which op made the first NaN: numerics of a training program, recorded while it runs.

    watch = sonde.debug.watch(model, optimizer, logdir="runs/first")     # PyTorch
    for x, y in batches:
        loss = watch.step(train_step, x, y)      # or just call train_step: the hooks see the model only

    step = sonde.debug.checked(jax.jit(train_step), logdir="runs/first")        # JAX: a bad call is run again, op by op
    x = sonde.debug.tap(x, "hidden")             # JAX: what x holds, inside jit, grad, scan
    model.fit(..., callbacks=[sonde.keras.Numerics("runs/first")])      # Keras 3

`sonde numerics runs/first` then says which op, at which line. A step that goes wrong is run again, op by op. The
files are those of TensorFlow's debugger: TensorBoard's Debugger V2 opens them too.
"""

from __future__ import annotations

import atexit
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._torch_debug import Watch

__all__ = ["checked", "record", "step", "stop", "tap", "watch"]


def watch(
    model: Any,
    optimizer: Any = None,
    *,
    logdir: str,
    every: int = 100,
    ring: int | None = None,
    replay: bool = True,
    max_bytes: int = 2 << 30,
    on_signal: int | None = None,
) -> Watch:
    """Watches a torch.nn.Module.

    every      outputs, gradients and parameters are recorded in every so many-th step; every step is checked for NaN
    ring       keep only so many recorded steps in memory, and write them on an alert, at the exit or by dump()
    replay     run a bad step again, op by op, to name the op
    max_bytes  of disk
    on_signal  also write the ring on this signal
    """
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"every must be a whole number from 1 on, not {every!r}")
    if ring is not None and (isinstance(ring, bool) or not isinstance(ring, int) or ring < 1):
        raise ValueError(f"ring must be a whole number from 1 on, not {ring!r}")
    from ._torch_debug import Watch

    return Watch(model, optimizer, str(logdir), every, ring, replay, max_bytes, on_signal)


def checked(function: Any, *, logdir: str, every: int = 1, max_bytes: int = 2 << 30) -> Any:
    """A JAX function that looks at what it returns.

    every      all of it in every so many-th call; in the others only scalars (the loss), without waiting for them
    max_bytes  of disk

    A call that gives NaN or infinity is run again equation by equation; arguments that the function donates cannot be.
    """
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"every must be a whole number from 1 on, not {every!r}")
    from ._jax_debug import Checked

    return Checked(function, str(logdir), every, max_bytes)


_lock = threading.Lock()
_recorder: Any = None


def record(logdir: str, max_bytes: int = 2 << 30) -> None:
    """From now on tap() writes into this folder."""
    global _recorder
    from ._jax_debug import Recorder

    stop()
    with _lock:
        _recorder = Recorder(str(logdir), max_bytes)
    atexit.register(stop)


def stop() -> None:
    """Writes what is left; tap() does nothing from now on."""
    global _recorder
    with _lock:
        recorder, _recorder = _recorder, None
    if recorder is not None:
        recorder.close()


def step(number: int) -> None:
    """Tells tap() which training step begins. Without it the calls of each tap are counted."""
    if _recorder is not None:
        _recorder.step = number


def tap(x: Any, name: str) -> Any:
    """Records a JAX array (or a tree of them) and gives it back; works under jit, grad, scan and shard_map."""
    if _recorder is None:
        return x
    return _recorder.tap(x, name)
