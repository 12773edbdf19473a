"""Summaries inside compiled functions: a value that is only known later is handed over when it is.

`tf.function` and `jax.jit` run the Python code once, with symbols in place of numbers. A summary of such a symbol
becomes part of the compiled program: TensorFlow's py_function, JAX's debug.callback.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any


def _is_tensorflow_symbol(x: Any) -> bool:
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None or not hasattr(tensorflow, "is_symbolic_tensor"):
        return False
    if isinstance(x, tensorflow.Variable):
        return not tensorflow.executing_eagerly()
    return bool(tensorflow.is_tensor(x) and tensorflow.is_symbolic_tensor(x))


def _is_jax_symbol(x: Any) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and hasattr(jax, "core") and isinstance(x, jax.core.Tracer)


def name_scope() -> str:
    """The scope that tf.name_scope put around the caller, with a trailing slash; empty outside."""
    tensorflow = sys.modules.get("tensorflow")
    current = getattr(tensorflow, "get_current_name_scope", None)
    scope = current() if current is not None else ""
    return scope + "/" if scope else ""


def deferrable(state: Any, kind: str) -> Callable[[Callable[..., bool]], Callable[..., bool]]:
    """For a summary call f(name, ..., step=None): the same call, later, when an argument is a symbol.

    `state` is the default writer, step and scope of the caller, which a later call must find as they were.
    """

    def wrap(call: Callable[..., bool]) -> Callable[..., bool]:
        @functools.wraps(call)
        def summary(name: Any, *args: Any, **kwargs: Any) -> bool:
            # The step is an argument like any other: `with writer.as_default(step=variable)`.
            if state.step is not None and kwargs.get("step") is None and "step" not in kwargs:
                symbols = [*args, *kwargs.values(), state.step]
            else:
                symbols = [*args, *kwargs.values()]
            for is_symbol, defer in ((_is_tensorflow_symbol, _with_tensorflow), (_is_jax_symbol, _with_jax)):
                if any(is_symbol(one) for one in symbols):
                    return _defer(call, is_symbol, defer, state, kind, name, args, kwargs)
            return call(name, *args, **kwargs)

        return summary

    return wrap


def _defer(
    call: Callable[..., bool],
    is_symbol: Callable[[Any], bool],
    defer: Callable[..., Any],
    state: Any,
    kind: str,
    name: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> bool:
    if state.writer is None:
        return False
    writer, recording, step = state.writer, state.recording, state.step
    scope = "" if kind == "write" else name_scope() + state.scope  # write() takes the tag as it is
    keys = list(kwargs)
    everything = [*args, *kwargs.values(), step]
    places = [i for i, one in enumerate(everything) if is_symbol(one)]

    def later(*values: Any) -> None:
        given = list(everything)
        for place, one in zip(places, values, strict=True):
            given[place] = one
        before = state.writer, state.recording, state.step, state.scope
        state.writer, state.recording, state.step, state.scope = writer, recording, given[-1], ""
        try:
            named = dict(zip(keys, given[len(args) : -1], strict=True))
            call(scope + (name or kind), *given[: len(args)], **named)
        finally:
            state.writer, state.recording, state.step, state.scope = before

    defer(later, [everything[i] for i in places])
    return True


def _with_tensorflow(later: Callable[..., None], symbols: list[Any]) -> None:
    tensorflow = sys.modules["tensorflow"]
    tensorflow.py_function(lambda *values: later(*(v.numpy() for v in values)), symbols, [])


def _with_jax(later: Callable[..., None], symbols: list[Any]) -> None:
    sys.modules["jax"].debug.callback(later, *symbols)
