"""A step of a torch program run again, op by op."""

from __future__ import annotations

import collections
import re
import sys
import time
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ._tfdbg import Stats, is_own, user_stack
from ._torch_stats import tensor_stats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_REPLAYED_OPS = 20_000
_FACTORY = {"full", "full_like", "scalar_tensor", "lift_fresh", "lift_fresh_copy", "new_full", "fill", "fill_"}
_EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "_empty_affine_quantized", "resize_"}
_ENGINE = torch.autograd.graph._engine_run_backward.__code__
_TRACEBACK = re.compile(r'File "(.+?)", line (\d+), in (.+)')


def storage_of(tensor: torch.Tensor) -> int:
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def type_name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _pretended(func: Any, args: Any) -> Any:
    """A collective operation that is not carried out: the other ranks do not replay."""
    work = getattr(torch._C._distributed_c10d, "FakeWork", None)
    if work is None:
        raise Stop
    results = len(func._schema.returns)
    return (args[0], work()) if results == 2 else work() if results == 1 else None


def _frames_in_backward() -> tuple[Any, ...]:
    """The user's frames that the autograd engine called: the backward of a torch.autograd.Function."""
    frames: list[Any] = []
    frame: Any = sys._getframe(2)
    while frame is not None and len(frames) < 64:
        code = frame.f_code
        if code is _ENGINE:
            return tuple(reversed(frames))
        if is_own(code.co_filename):
            frames.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return ()


class Stop(BaseException):
    """Ends a replay where the optimizer would change the parameters."""


class Replay(TorchDispatchMode):
    """Every operation of a step, with what went in and what came out."""

    def __init__(
        self, names: dict[int, str], buffers: set[str], updated: Callable[[str], tuple[str, Any, dict[str, Any]] | None]
    ) -> None:
        """names: of storages of parameters and buffers; buffers: which are those; updated: see _parameter."""
        super().__init__()
        self._buffers = buffers
        self._updated = updated
        self.nodes: list[dict[str, Any]] = []
        self._maker: dict[int, int] = {}  # storage -> the node that wrote it last
        self._names = names  # storages of parameters and buffers
        self._used: collections.Counter[str] = collections.Counter()
        self._outer = torch._C._current_autograd_node()  # a hook of the backward pass replays
        self._meant: set[str] = set()  # infinite on purpose: constants, and what is made of them

    def _name(self, base: str) -> str:
        self._used[base] += 1
        return base if self._used[base] == 1 else f"{base}_{self._used[base] - 1}"

    def _add(self, kind: str, name: str, inputs: list[str], tensor: torch.Tensor, stack: Any) -> int:
        stats = tensor_stats(tensor)
        if stats is None:
            return -1
        node = {"kind": kind, "name": self._name(name), "inputs": inputs, "stats": stats, "stack": stack}
        node |= {"dtype": type_name(tensor), "rank": tensor.dim(), "wall": time.time()}
        self.nodes.append(node)
        if stats.level == 1 and (kind == "Const" or any(n.removesuffix(":0") in self._meant for n in inputs)):
            self._meant.add(node["name"])
        return len(self.nodes) - 1

    def _input(self, tensor: torch.Tensor, stack: Any) -> str | None:
        """The node that made a tensor; what came from outside becomes one."""
        storage = storage_of(tensor)
        if storage not in self._maker:
            name = self._names.get(storage)
            made = self._parameter(name, tensor, stack) if name else self._add("Input", "input", [], tensor, stack)
            if made < 0:
                return None
            self._maker[storage] = made
        return self.nodes[self._maker[storage]]["name"] + ":0"

    def _parameter(self, name: str, tensor: torch.Tensor, stack: Any) -> int:
        """A parameter; one that the last update made bad is shown as that update, with the optimizer's state."""
        stats = tensor_stats(tensor)
        if stats is not None and stats.level == 1 and name in self._buffers:  # a mask that the model keeps
            return self._add("Const", name, [], tensor, stack)
        cause = self._updated(name) if stats is not None and stats.bad else None
        if cause is None:
            return self._add("Parameter", name, [], tensor, stack)
        kind, place, state = cause
        inputs = []
        for key, value in state.items():
            made = self._add("Optimizer", f"{name}/{key}", [], value, place)
            if made >= 0:
                inputs.append(self.nodes[made]["name"] + ":0")
        return self._add(kind, name, inputs, tensor, place)

    @property
    def is_bad(self) -> bool:
        return any(node["stats"].bad and node["kind"] != "Const" for node in self.nodes)

    @property
    def is_meant(self) -> bool:
        """Values that are infinite on purpose (masks), and nothing else that is wrong."""
        return bool(self._meant) and all(not node["stats"].bad or node["name"] in self._meant for node in self.nodes)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__ if hasattr(func, "overloadpacket") else str(func)
        leaves = tree_leaves((args, kwargs))
        tensors = [x for x in leaves if isinstance(x, torch.Tensor) and x.is_floating_point()]
        if getattr(func, "namespace", "") == "c10d":
            return _pretended(func, args)
        if name in _EMPTY or len(self.nodes) >= MOST_REPLAYED_OPS:
            return func(*args, **kwargs)
        before = {storage_of(t) for t in tensors}
        kind, stack = name, None
        autograd = torch._C._current_autograd_node()
        if autograd is not None and autograd is not self._outer:
            stack = self._forward_stack(autograd)
            inner = _frames_in_backward()
            if inner:  # a backward of the user's own: its line, and the op itself
                stack = (*(stack or ()), *inner)
            else:
                kind = re.sub(r"Backward\d*$", "", autograd.name()).lower() + " backward"
        stack = stack or user_stack(2)
        inputs = [source for t in tensors if (source := self._input(t, stack)) is not None]
        for value in leaves:
            if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
                inputs.append(self._constant(value, stack))
        out = func(*args, **kwargs)
        for result in tree_leaves(out):
            if not isinstance(result, torch.Tensor) or not result.is_floating_point():
                continue
            is_view = storage_of(result) in before and not name.endswith("_")
            if is_view:
                continue
            shown = "Const" if name in _FACTORY and not tensors else kind
            made = self._add(shown, name, inputs, result, stack)
            if made >= 0:
                self._maker[storage_of(result)] = made
        return out

    def _constant(self, value: float, stack: Any) -> str:
        nan, high = value != value, value > 0
        counts = (1.0, float(not nan and not high), float(not nan and high), float(nan), 0.0, 0.0, 0.0)
        stats = Stats((*counts, *[float("nan")] * 4, 0.0, 0.0, 0.0, 0.0, []))
        node = {"kind": "Const", "name": self._name("constant"), "inputs": [], "stats": stats, "stack": stack}
        self.nodes.append(node | {"dtype": "float32", "rank": 0, "wall": time.time()})
        if not nan:
            self._meant.add(node["name"])
        return node["name"] + ":0"

    @staticmethod
    def _forward_stack(node: Any) -> tuple[Any, ...] | None:
        """Where the forward operation of a backward node stands, if anomaly mode kept it."""
        lines = node.metadata.get("traceback_") or ()
        found = [_TRACEBACK.search(line) for line in lines]
        own = [(m[1], int(m[2]), m[3].strip()) for m in found if m and is_own(m[1])]
        return tuple(own) or None
