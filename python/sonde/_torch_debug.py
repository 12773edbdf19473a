"""sonde.debug.watch for PyTorch: hooks that count, and the replay of a bad step op by op."""

from __future__ import annotations

import atexit
import collections
import os
import re
import signal
import threading
import time
import weakref
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from ._tfdbg import DumpWriter, Stats, is_own, stats_of, user_stack

MOST_REPLAYED_OPS = 20_000
MOST_REPLAYS = 3  # a program that goes on with NaN would replay every step
_FACTORY = {"full", "full_like", "scalar_tensor", "lift_fresh", "lift_fresh_copy", "new_full", "fill", "fill_"}
_EMPTY = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "_empty_affine_quantized", "resize_"}
_TRACEBACK = re.compile(r'File "(.+?)", line (\d+), in (.+)')


def tensor_stats(tensor: torch.Tensor, histogram: bool = False) -> Stats | None:
    """What a tensor holds. One native pass in main memory; on a device one reduction and one small copy."""
    if not tensor.is_floating_point() or tensor.is_sparse or tensor.numel() == 0:
        return None
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        return device_stats(tensor)
    if tensor.dtype not in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        tensor = tensor.float()
    try:
        return stats_of(tensor if tensor.is_contiguous() else tensor.contiguous(), histogram)
    except (BufferError, RuntimeError, TypeError):
        return None  # fake, meta and subclass tensors hold no values


def device_stats(tensor: torch.Tensor) -> Stats:
    """The same by torch's own operations, for tensors that are not in main memory."""
    wide = tensor.double() if tensor.dtype == torch.float64 else tensor.float()
    finite = torch.isfinite(wide)
    kept = torch.where(finite, wide, torch.zeros_like(wide))
    size = kept.abs()
    count = finite.sum().clamp(min=1)
    low = torch.where(finite, wide, torch.full_like(wide, float("inf"))).amin()
    high = torch.where(finite, wide, torch.full_like(wide, float("-inf"))).amax()
    numbers = torch.stack(
        [
            x.double()
            for x in (
                torch.isneginf(wide).sum(),
                torch.isposinf(wide).sum(),
                torch.isnan(wide).sum(),
                (kept < 0).sum(),
                (finite & (kept == 0)).sum(),
                (kept > 0).sum(),
                (kept.double().pow(2).sum() / count).sqrt(),
                low,
                high,
                kept.double().sum() / count,
                ((size > 0) & (size < torch.finfo(torch.float32).tiny)).sum(),
                (size > 65504).sum(),
                (size > 3.38953139e38).sum(),
                (size > 448).sum(),
            )
        ]
    ).tolist()
    total = float(wide.numel())
    nothing = numbers[5] + numbers[4] + numbers[3] == 0
    some = [float("nan")] * 4 if nothing else numbers[6:10]
    return Stats((total, *numbers[:6], *some, *(n / total for n in numbers[10:]), []))


def _is_bad(tensor: Any) -> bool:
    """Cheap: one sum; only a sum that is not finite is looked at again."""
    if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point() or tensor.numel() == 0:
        return False
    tensor = tensor.detach()
    with torch.no_grad():
        total = tensor.sum() if tensor.dtype != torch.float16 else tensor.float().sum()
        return not bool(torch.isfinite(total)) and not bool(torch.isfinite(tensor).all())


def _storage(tensor: torch.Tensor) -> int:
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return 0


def _type_name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


class _Stop(BaseException):
    """Ends a replay where the optimizer would change the parameters."""


class Replay(TorchDispatchMode):
    """Every operation of a step, with what went in and what came out."""

    def __init__(self, names: dict[int, str]) -> None:
        super().__init__()
        self.nodes: list[dict[str, Any]] = []
        self._maker: dict[int, int] = {}  # storage -> the node that wrote it last
        self._names = names  # storages of parameters and buffers
        self._used: collections.Counter[str] = collections.Counter()

    def _name(self, base: str) -> str:
        self._used[base] += 1
        return base if self._used[base] == 1 else f"{base}_{self._used[base] - 1}"

    def _add(self, kind: str, name: str, inputs: list[str], tensor: torch.Tensor, stack: Any) -> int:
        stats = tensor_stats(tensor)
        if stats is None:
            return -1
        node = {"kind": kind, "name": self._name(name), "inputs": inputs, "stats": stats, "stack": stack}
        node |= {"dtype": _type_name(tensor), "rank": tensor.dim(), "wall": time.time()}
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _input(self, tensor: torch.Tensor, stack: Any) -> str | None:
        """The node that made a tensor; what came from outside becomes one."""
        storage = _storage(tensor)
        if storage not in self._maker:
            name = self._names.get(storage)
            made = self._add("Parameter" if name else "Input", name or "input", [], tensor, stack)
            if made < 0:
                return None
            self._maker[storage] = made
        return self.nodes[self._maker[storage]]["name"] + ":0"

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__ if hasattr(func, "overloadpacket") else str(func)
        leaves = tree_leaves((args, kwargs))
        tensors = [x for x in leaves if isinstance(x, torch.Tensor) and x.is_floating_point()]
        if name in _EMPTY or len(self.nodes) >= MOST_REPLAYED_OPS:
            return func(*args, **kwargs)
        before = {_storage(t) for t in tensors}
        kind, stack = name, None
        autograd = torch._C._current_autograd_node()
        if autograd is not None:
            kind = re.sub(r"Backward\d*$", "", autograd.name()).lower() + " backward"
            stack = self._forward_stack(autograd)
        stack = stack or user_stack(2)
        inputs = [source for t in tensors if (source := self._input(t, stack)) is not None]
        for value in leaves:
            if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
                inputs.append(self._constant(value, stack))
        out = func(*args, **kwargs)
        for result in tree_leaves(out):
            if not isinstance(result, torch.Tensor) or not result.is_floating_point():
                continue
            is_view = _storage(result) in before and not name.endswith("_")
            if is_view:
                continue
            shown = "Const" if name in _FACTORY and not tensors else kind
            made = self._add(shown, name, inputs, result, stack)
            if made >= 0:
                self._maker[_storage(result)] = made
        return out

    def _constant(self, value: float, stack: Any) -> str:
        nan, high = value != value, value > 0
        counts = (1.0, float(not nan and not high), float(not nan and high), float(nan), 0.0, 0.0, 0.0)
        stats = Stats((*counts, *[float("nan")] * 4, 0.0, 0.0, 0.0, 0.0, []))
        node = {"kind": "Const", "name": self._name("constant"), "inputs": [], "stats": stats, "stack": stack}
        self.nodes.append(node | {"dtype": "float32", "rank": 0, "wall": time.time()})
        return node["name"] + ":0"

    @staticmethod
    def _forward_stack(node: Any) -> tuple[Any, ...] | None:
        """Where the forward operation of a backward node stands, if anomaly mode kept it."""
        lines = node.metadata.get("traceback_") or ()
        found = [_TRACEBACK.search(line) for line in lines]
        own = [(m[1], int(m[2]), m[3].strip()) for m in found if m and is_own(m[1])]
        return tuple(own) or None


class Watch:
    """Made by sonde.debug.watch."""

    def __init__(
        self,
        model: torch.nn.Module,
        optimizer: Any,
        logdir: str,
        every: int,
        ring: int | None,
        replay: bool,
        max_bytes: int,
        on_signal: int | None,
    ) -> None:
        rank = None
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            rank = torch.distributed.get_rank()
        elif os.environ.get("WORLD_SIZE", "1") != "1" and os.environ.get("RANK", "").isdigit():
            rank = int(os.environ["RANK"])
        folder = str(logdir) if not rank else os.path.join(str(logdir), f"rank{rank}")
        self.writer = DumpWriter(folder, "torch", torch.__version__, rank, max_bytes=max_bytes)
        self.every = every
        self.steps = 0
        self.alerts: list[int] = []
        self._model = weakref.ref(model)
        self._graph = self.writer.graph("model")
        self._ring: collections.deque[list[Any]] | None = collections.deque(maxlen=ring) if ring else None
        self._rows: list[Any] = []
        self._lock = threading.Lock()
        self._replays = 0 if replay else MOST_REPLAYS
        self._is_replaying = False
        self._call: tuple[Any, Any, Any, Any] | None = None  # of step(): what to run again
        self._inputs: tuple[Any, Any] | None = None
        self._out: Any = None
        self._out_grad: Any = None
        self._hooks: list[Any] = []
        self._made: dict[int, str] = {}
        self._last_grad = ""
        self._has_optimizer = optimizer is not None
        self._sentinels = [p for p in model.parameters() if p.requires_grad][:2]
        self._kept = [
            model.register_forward_pre_hook(self._before, with_kwargs=True),
            model.register_forward_hook(self._after),
        ]
        if optimizer is not None:
            self._kept.append(optimizer.register_step_pre_hook(self._before_update))
            self._kept.append(optimizer.register_step_post_hook(self._after_update))
        if on_signal is not None:
            signal.signal(on_signal, lambda *_: self.dump())
        atexit.register(self.close)

    # --- one step
    def step(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Runs one training step. A step that goes wrong can then be replayed whole, loss and backward pass included."""
        self._call = (function, args, kwargs, torch.get_rng_state())
        try:
            result = function(*args, **kwargs)
        finally:
            call, self._call = self._call, None
        if _is_bad(result) and (not self.alerts or self.alerts[-1] < self.steps - 1):
            self._call = call
            self._alert(self.steps - 1 if self._has_optimizer else self.steps)
            self._call = None
        return result

    def _before(self, model: Any, args: Any, kwargs: Any) -> None:
        if self._is_replaying or not torch.is_grad_enabled():
            return
        if not self._has_optimizer and self._inputs is not None:
            self._end_step()
        self._inputs = (args, kwargs)
        if self.steps % self.every == 0 and not self._hooks:
            self._begin(model)

    def _after(self, model: Any, args: Any, out: Any) -> None:
        if self._is_replaying or not torch.is_grad_enabled():
            return
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
                self._out = tensor
                tensor.register_hook(self._keep_grad)
                break
        if self._out is not None and self._out.device.type == "cpu" and self._call is None and _is_bad(self._out):
            self._alert(self.steps)

    def _keep_grad(self, grad: Any) -> None:
        self._out_grad = grad

    def _before_update(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._is_replaying:
            raise _Stop
        if self._hooks:
            self._record_parameters(optimizer)
        if any(_is_bad(p.grad) for p in self._sentinels if p.grad is not None):
            self._alert(self.steps)

    def _after_update(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self._is_replaying:
            self._end_step()

    def _end_step(self) -> None:
        rows, self._rows = self._rows, []
        if self._hooks and (self.steps + 1) % self.every:
            for hook in self._hooks:
                hook.remove()
            self._hooks = []
        self._made.clear()
        self._last_grad = ""
        self._inputs = self._out = self._out_grad = None
        if rows:
            if self._ring is None:
                self._write(rows)
                self.writer.execution(f"step {self.steps}", self._graph, self.steps)
                self.writer.flush()
            else:
                with self._lock:
                    self._ring.append(rows)
        self.steps += 1

    def _write(self, rows: list[Any]) -> None:
        for kind, name, inputs, stack, stats, dtype, rank, step, wall in rows:
            if not self.writer.has_op(self._graph, name):
                self.writer.op(self._graph, kind, name, inputs, stack)
            self.writer.trace(self._graph, name, stats, step, dtype, rank, wall=wall)

    def dump(self) -> None:
        """Writes what the ring holds: the last steps before now."""
        if self._ring is None:
            self.writer.flush()
            return
        with self._lock:
            steps = list(self._ring)
            self._ring.clear()
        for rows in steps:
            self._write(rows)
            self.writer.execution(f"step {rows[0][7]}", self._graph, rows[0][7])
        self.writer.flush()

    # --- recording
    def _begin(self, model: torch.nn.Module) -> None:
        for name, module in model.named_modules():
            self._hooks.append(module.register_forward_hook(self._module_hook(name or "model")))

    def _module_hook(self, name: str) -> Any:
        def hook(module: Any, args: Any, out: Any) -> None:
            if self._is_replaying or not torch.is_grad_enabled():
                return
            leaves = (out,) if isinstance(out, torch.Tensor) else tree_leaves(out)
            first = next((t for t in leaves if isinstance(t, torch.Tensor) and t.is_floating_point()), None)
            if first is None:
                return
            # The place of an op is written once.
            stack = () if self.writer.has_op(self._graph, name) else user_stack(2)
            known = {made for t in args if isinstance(t, torch.Tensor) and (made := self._made.get(_storage(t)))}
            self._row(type(module).__name__, name, [f"{k}:0" for k in sorted(known)], stack, first)
            self._made[_storage(first)] = name
            if first.requires_grad:
                first.register_hook(lambda grad: self._grad(name, type(module).__name__, stack, grad))

        return hook

    def _row(self, kind: str, name: str, inputs: list[str], stack: Any, tensor: torch.Tensor) -> None:
        stats = tensor_stats(tensor, histogram=self.every >= 10)
        if stats is not None:
            row = (kind, name, inputs, stack, stats, _type_name(tensor), tensor.dim(), self.steps, time.time())
            self._rows.append(row)

    def _grad(self, name: str, kind: str, stack: Any, grad: Any) -> None:
        if self._is_replaying or not self._hooks:
            return
        inputs = [f"{self._last_grad}:0"] if self._last_grad else []
        self._row(f"{kind} backward", f"{name}/grad", inputs, stack, grad)
        self._last_grad = f"{name}/grad"

    def _record_parameters(self, optimizer: Any) -> None:
        model = self._model()
        if model is None or (self.every < 10 and self.steps >= 20 and self.steps % 10):
            return
        stack = user_stack(2) if self.steps == 0 else ()
        for name, parameter in model.named_parameters():
            self._row("Parameter", f"{name}", [], stack, parameter)
            if parameter.grad is not None:
                self._row("Gradient", f"{name}/grad", [], stack, parameter.grad)
            for key, value in optimizer.state.get(parameter, {}).items():
                if isinstance(value, torch.Tensor) and value.dim() > 0:
                    self._row("Optimizer", f"{name}/{key}", [], stack, value)

    # --- alerts
    def _alert(self, step: int) -> None:
        if self.alerts and self.alerts[-1] == step:
            return
        self.alerts.append(step)
        if len(self.alerts) > 1000:
            del self.alerts[1:-1]
        if self._rows:
            rows, self._rows = self._rows, []
            self._write(rows)
        self.dump()
        if self._replays < MOST_REPLAYS:
            self._replays += 1
            try:
                self._replay(step)
            except Exception as error:
                self.writer._fail(f"the replay of step {step} failed: {error}")
        self.writer.flush()

    def _replay(self, step: int) -> None:
        model = self._model()
        if model is None or (self._call is None and self._inputs is None):
            return
        names = {_storage(p): n for n, p in [*model.named_parameters(), *model.named_buffers()]}
        grads = [(p, p.grad) for p in model.parameters()]
        buffers = [(b, b.detach().clone()) for b in model.buffers()]
        state = torch.get_rng_state()
        mode = Replay(names)
        self._is_replaying = True
        call, inputs, out_grad = self._call, self._inputs, self._out_grad
        try:
            for parameter, _ in grads:
                parameter.grad = None
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                anomaly = torch.autograd.detect_anomaly(check_nan=False)
            with anomaly, mode, torch.enable_grad():
                if call is not None:
                    torch.set_rng_state(call[3])
                    call[0](*call[1], **call[2])
                elif inputs is not None:
                    out = model(*inputs[0], **inputs[1])
                    first = next((t for t in tree_leaves(out) if isinstance(t, torch.Tensor) and t.requires_grad), None)
                    if out_grad is not None and first is not None and first.shape == out_grad.shape:
                        first.backward(out_grad)
        except _Stop:
            pass
        finally:
            for parameter, grad in grads:
                parameter.grad = grad
            with torch.no_grad():
                for buffer, before in buffers:
                    buffer.copy_(before)
            torch.set_rng_state(state)
            self._is_replaying = False
        graph = self.writer.graph(f"replay of step {step}", self._graph)
        for node in mode.nodes:
            self.writer.op(graph, node["kind"], node["name"], node["inputs"], node["stack"])
            self.writer.trace(graph, node["name"], node["stats"], step, node["dtype"], node["rank"], wall=node["wall"])
        self.writer.execution(f"replay of step {step}", graph, step)

    def close(self) -> None:
        """Writes what is left and takes all hooks away."""
        atexit.unregister(self.close)
        if self._rows:
            self._end_step()
        self.dump()
        for hook in [*self._kept, *self._hooks]:
            hook.remove()
        self._kept, self._hooks = [], []

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
