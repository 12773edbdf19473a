"""sonde.debug.tap for JAX: values reach the host through jax.debug.callback, gradients through a custom rule."""

from __future__ import annotations

import atexit
import collections
import threading
from typing import Any

import jax
import numpy as np

from ._tfdbg import DumpWriter, is_own, stats_of, user_stack


class Recorder:
    """Made by sonde.debug.record."""

    def __init__(self, logdir: str, max_bytes: int) -> None:
        self.writer = DumpWriter(logdir, "jax", jax.__version__, max_bytes=max_bytes)
        self.step: int | None = None
        self._graph = self.writer.graph("program")
        self._counts: collections.Counter[str] = collections.Counter()
        self._last: dict[str, str] = {}
        self._lock = threading.Lock()
        self._order: list[str] = []

    def tap(self, x: Any, name: str) -> Any:
        stack = user_stack(3)
        leaves, tree = jax.tree_util.tree_flatten(x)
        names = [name] if len(leaves) == 1 else [f"{name}/{i}" for i in range(len(leaves))]
        return jax.tree_util.tree_unflatten(
            tree, [self._leaf(leaf, one, stack) for leaf, one in zip(leaves, names, strict=True)]
        )

    def _leaf(self, leaf: Any, name: str, stack: Any) -> Any:
        if not jax.numpy.issubdtype(jax.numpy.result_type(leaf), jax.numpy.floating):
            return leaf
        self._declare(name, "tap", stack)
        self._declare(f"{name}/grad", "gradient", stack)

        @jax.custom_vjp  # type: ignore[untyped-decorator]
        def passing(value: Any) -> Any:
            jax.debug.callback(self._take, value, name=name)
            return value

        def forward(value: Any) -> Any:
            jax.debug.callback(self._take, value, name=name)
            return value, None

        def backward(_: None, cotangent: Any) -> Any:
            jax.debug.callback(self._take, cotangent, name=f"{name}/grad")
            return (cotangent,)

        passing.defvjp(forward, backward)
        return passing(leaf)

    def _declare(self, name: str, kind: str, stack: Any) -> None:
        """The taps of one program form a chain in the order in which they were traced."""
        with self._lock:
            if self.writer.has_op(self._graph, name):
                return
            inputs = [] if kind == "gradient" else [f"{n}:0" for n in self._order[-1:]]
            self.writer.op(self._graph, kind if kind == "gradient" else name, name, inputs, stack)
            if kind != "gradient":
                self._order.append(name)

    def _take(self, value: Any, *, name: str) -> None:
        stats, kind, rank = _stats(value, True)
        if stats is None:
            return
        with self._lock:
            step = self._counts[name] if self.step is None else self.step
            self._counts[name] += 1
            self.writer.trace(self._graph, name, stats, step, kind, rank)
            if stats.bad or self._counts[name] % 64 == 0:
                self.writer.flush()

    def close(self) -> None:
        jax.effects_barrier()
        self.writer.close()


MOST_REPLAYED_OPS = 20_000
MOST_REPLAYS = 3
_INNER = ("jaxpr", "call_jaxpr", "fun_jaxpr")


@jax.jit  # type: ignore[untyped-decorator]
def _all_finite(leaves: list[Any]) -> Any:
    return jax.numpy.stack([jax.numpy.isfinite(leaf).all() for leaf in leaves]).all()


def _stack_of(eqn: Any) -> tuple[Any, ...]:
    """The user's lines behind an equation, outermost first."""
    from jax._src import source_info_util

    try:
        frames = list(source_info_util.user_frames(eqn.source_info.traceback))
    except (AttributeError, TypeError):
        return ()
    own = [(f.file_name, f.start_line, f.function_name) for f in frames if is_own(f.file_name)]
    return tuple(reversed(own))


def _is_users(jaxpr: Any) -> bool:
    """Whether a jaxpr was traced from a function of the user's program."""
    path = getattr(getattr(jaxpr, "debug_info", None), "func_filename", None)
    return path is None or is_own(path)


class Checked:
    """Made by sonde.debug.checked: calls a function and looks at what it returns; a bad call is run again, op by op."""

    def __init__(self, function: Any, logdir: str, every: int, max_bytes: int) -> None:
        self._function = function
        self._every = every
        self.writer = DumpWriter(logdir, "jax", jax.__version__, max_bytes=max_bytes)
        self.writer.flush()
        self.calls = 0
        self.alerts: list[int] = []
        self._graph = ""
        self._waiting: tuple[Any, int, Any, Any] | None = None  # whether a call's scalars are finite, and the call
        atexit.register(self._look)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        out = self._function(*args, **kwargs)
        number, self.calls = self.calls, self.calls + 1
        leaves = [x for x in jax.tree_util.tree_leaves(out) if jax.numpy.issubdtype(jax.numpy.result_type(x), np.floating)]
        self._look()
        if number % self._every:  # only scalars (the loss), looked at when the next call is on its way
            scalars = [x for x in leaves if np.ndim(x) == 0]
            if scalars:
                self._waiting = (_all_finite(scalars), number, args, kwargs)
        elif leaves and not bool(_all_finite(leaves)):
            self._alert(number, args, kwargs)
        return out

    def _look(self) -> None:
        """At the call before."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None and not bool(waiting[0]):
            self._alert(*waiting[1:])

    def _alert(self, number: int, args: Any, kwargs: Any) -> None:
        self.alerts.append(number)
        if len(self.alerts) <= MOST_REPLAYS:
            try:
                self._replay(number, args, kwargs)
            except Exception as error:
                self.writer._fail(f"the replay of call {number} failed: {error}")

    def record(self, named: Any) -> None:
        """Writes what named arrays hold before this call: parameters, for the map of modules and steps."""
        graph = self._graph = self._graph or self.writer.graph("model")
        for name, value in named:
            stats, dtype, rank = _stats(value)
            if stats is not None:
                self.writer.op(graph, "Parameter", name)
                self.writer.trace(graph, name, stats, self.calls, dtype, rank)
        self.writer.execution(f"step {self.calls}", graph, self.calls)
        self.writer.flush()

    def _replay(self, number: int, args: Any, kwargs: Any) -> None:
        graph = self.writer.graph(f"replay of step {number}")
        run = _Replay()
        flat, _ = jax.tree_util.tree_flatten((args, kwargs))
        closed = jax.make_jaxpr(self._function)(*args, **kwargs)
        names = [run.add("Input", f"input_{i}", [], value, ()) for i, value in enumerate(flat)]
        constants = [run.add("Const", "constant", [], value, ()) for value in closed.consts]
        outs = run.evaluate(closed.jaxpr, list(closed.consts), constants, flat, names)
        run.write(self.writer, graph, number, [name for value, name in outs if np.ndim(value) == 0])
        self.writer.execution(f"replay of step {number}", graph, number)
        self.writer.flush()


def _stats(value: Any, histogram: bool = False) -> tuple[Any, str, int]:
    """What an array holds, its type and rank; nothing of what is no floating point number."""
    try:
        array = np.asarray(value)
    except TypeError:
        return None, "", 0
    dtype = array.dtype.name
    if array.size == 0 or "float" not in dtype:
        return None, dtype, 0
    if dtype not in ("float16", "float32", "float64"):
        array = array.astype(np.float32)
    return stats_of(np.ascontiguousarray(array), histogram), dtype, array.ndim


class _Replay:
    """Runs a jaxpr equation by equation and keeps what each gave."""

    def __init__(self) -> None:
        self._nodes: dict[str, tuple[Any, ...]] = {}
        self._used: collections.Counter[str] = collections.Counter()

    def add(self, kind: str, name: str, inputs: list[str], value: Any, stack: Any) -> str:
        """Keeps a value and gives the name of its op; nothing for what is no floating point number."""
        if len(self._nodes) >= MOST_REPLAYED_OPS:
            return ""
        stats, dtype, rank = _stats(value)
        if stats is None:
            return ""
        self._used[name] += 1
        own = name if self._used[name] == 1 else f"{name}_{self._used[name] - 1}"
        self._nodes[own] = (kind, [n for n in inputs if n], stack, stats, dtype, rank)
        return own

    def write(self, writer: DumpWriter, graph: str, step: int, results: list[str]) -> None:
        """What the scalar results (the loss) were made of comes first: slopes are computed beside the values, and one
        that is infinite explains nothing while the loss has gone wrong by itself."""
        first: set[str] = set()
        waiting = [name for name in results if name in self._nodes and self._nodes[name][3].bad]
        while waiting:
            name = waiting.pop()
            if name not in first:
                first.add(name)
                waiting += [n for n in self._nodes[name][1] if n in self._nodes]
        for name, (kind, inputs, stack, _, _, _) in self._nodes.items():
            writer.op(graph, kind, name, [f"{n}:0" for n in inputs], stack)
        for name in sorted(self._nodes, key=lambda n: n not in first):
            _, _, _, stats, dtype, rank = self._nodes[name]
            writer.trace(graph, name, stats, step, dtype, rank)

    def evaluate(self, jaxpr: Any, consts: list[Any], const_names: list[str], args: list[Any], names: list[str], around: Any = ()) -> Any:
        values: dict[Any, tuple[Any, str]] = {}
        for var, value, name in zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], [*const_names, *names], strict=True):
            values[var] = (value, name)

        def read(atom: Any) -> tuple[Any, str]:
            if not hasattr(atom, "val"):
                return values[atom]
            bad = isinstance(atom.val, (float, np.floating)) and not np.isfinite(atom.val)
            return atom.val, self.add("Const", "constant", [], atom.val, ()) if bad else ""

        for eqn in jaxpr.eqns:
            read_in = [read(atom) for atom in eqn.invars]
            outs = self._equation(eqn, [v for v, _ in read_in], [n for _, n in read_in], around)
            for var, out in zip(eqn.outvars, outs, strict=True):
                values[var] = out
        return [read(atom) for atom in jaxpr.outvars]

    def _equation(self, eqn: Any, args: list[Any], names: list[str], around: Any) -> list[tuple[Any, str]]:
        kind = eqn.primitive.name
        stack = around or _stack_of(eqn)
        if kind == "scan":
            return self._scan(eqn, args, names)
        if kind == "cond":
            branches = eqn.params["branches"]
            chosen = branches[int(np.clip(int(args[0]), 0, len(branches) - 1))]
            return self._closed(chosen, args[1:], names[1:])
        if kind == "while":
            return self._while(eqn, args, names)
        inner = next((eqn.params[key] for key in _INNER if key in eqn.params), None)
        if inner is not None and kind not in ("custom_linear_solve",):
            closed = inner if hasattr(inner, "consts") else None
            jaxpr = closed.jaxpr if closed is not None else inner
            if len(jaxpr.invars) == len(args):
                # A function of the library was traced where it was first called: this call's place counts.
                here = () if not around and _is_users(jaxpr) else stack
                if closed is not None:
                    return self._closed(closed, args, names, here)
                return list(self.evaluate(jaxpr, [], [], args, names, here))
        bound = eqn.primitive.get_bind_params(eqn.params)
        subfuns, params = bound if isinstance(bound, tuple) else ((), bound)  # a pair before JAX 0.8
        out = eqn.primitive.bind(*subfuns, *args, **params)
        outs = list(out) if eqn.primitive.multiple_results else [out]
        return [(value, self.add(kind, kind, [n for n in names if n], value, stack)) for value in outs]

    def _closed(self, closed: Any, args: list[Any], names: list[str], around: Any = ()) -> list[tuple[Any, str]]:
        constants = [self.add("Const", "constant", [], value, ()) for value in closed.consts]
        return list(self.evaluate(closed.jaxpr, list(closed.consts), constants, args, names, around))

    def _scan(self, eqn: Any, args: list[Any], names: list[str]) -> list[tuple[Any, str]]:
        p = eqn.params
        fixed, carried = p["num_consts"], p["num_consts"] + p["num_carry"]
        carry = list(zip(args[fixed:carried], names[fixed:carried], strict=True))
        order = range(p["length"])
        pieces: list[list[tuple[Any, str]]] = []
        for i in reversed(order) if p["reverse"] else order:
            now = [*zip(args[:fixed], names[:fixed], strict=True), *carry]
            now += [(x[i], n) for x, n in zip(args[carried:], names[carried:], strict=True)]
            outs = self._closed(p["jaxpr"], [v for v, _ in now], [n for _, n in now])
            carry, piece = outs[: p["num_carry"]], outs[p["num_carry"] :]
            pieces.append(piece)
        if p["reverse"]:
            pieces.reverse()
        stacked = []
        for column in range(len(eqn.outvars) - p["num_carry"]):
            parts = [row[column] for row in pieces]
            value = jax.numpy.stack([v for v, _ in parts])
            bad = next((n for v, n in parts if not bool(jax.numpy.isfinite(v).all())), parts[-1][1])
            stacked.append((value, bad))
        return [*carry, *stacked]

    def _while(self, eqn: Any, args: list[Any], names: list[str]) -> list[tuple[Any, str]]:
        p = eqn.params
        first, second = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
        carry = list(zip(args[second:], names[second:], strict=True))
        while len(self._nodes) < MOST_REPLAYED_OPS:
            test = jax.core.eval_jaxpr(p["cond_jaxpr"].jaxpr, p["cond_jaxpr"].consts, *args[:first], *[v for v, _ in carry])
            if not bool(test[0]):
                break
            values = [*args[first:second], *[v for v, _ in carry]]
            carry = self._closed(p["body_jaxpr"], values, [*names[first:second], *[n for _, n in carry]])
        return carry
