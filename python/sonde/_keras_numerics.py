"""sonde.keras.Numerics: sonde.debug.watch as a Keras callback."""

from __future__ import annotations

from typing import Any

import keras
from keras.callbacks import Callback


class Numerics(Callback):
    """Records the numerics of fit() and names the op that made the first NaN.

    For the torch backend. On the tensorflow backend call tf.debugging.experimental.enable_dump_debug_info before the
    model is built; on jax wrap the step function in sonde.debug.checked.
    """

    def __init__(self, logdir: Any, every: int = 100, ring: int | None = None, max_bytes: int = 2 << 30) -> None:
        super().__init__()
        if keras.backend.backend() != "torch":
            raise ValueError(
                "sonde.keras.Numerics works with Keras on torch; on tensorflow use "
                "tf.debugging.experimental.enable_dump_debug_info, on jax sonde.debug.checked"
            )
        self._options = (str(logdir), every, ring, True, max_bytes, None)
        self._watch: Any = None
        self._kept: tuple[Any, Any] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        from ._torch_debug import Watch, _is_bad, _Stop

        model, optimizer = self.model, self.model.optimizer
        watch = self._watch = Watch(model, None, *self._options)
        watch._has_optimizer = True
        train_step, apply = model.train_step, optimizer.apply
        self._kept = (train_step, apply)

        def watched_step(*args: Any, **kwargs: Any) -> Any:
            return watch.step(train_step, *args, **kwargs)

        def watched_apply(grads: Any, *args: Any, **kwargs: Any) -> Any:
            if watch._is_replaying:
                raise _Stop
            if any(_is_bad(grad) for grad in grads[:2]):
                watch._alert(watch.steps)
            out = apply(grads, *args, **kwargs)
            watch._end_step()
            return out

        object.__setattr__(model, "train_step", watched_step)
        object.__setattr__(optimizer, "apply", watched_apply)

    def on_train_end(self, logs: Any = None) -> None:
        if self._watch is None or self._kept is None:
            return
        object.__setattr__(self.model, "train_step", self._kept[0])
        object.__setattr__(self.model.optimizer, "apply", self._kept[1])
        self._watch.close()
        self._watch = None
