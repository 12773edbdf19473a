"""sonde.debug.watch for PyTorch: hooks that count, and the replay of a bad step op by op."""

from __future__ import annotations

import atexit
import collections
import contextlib
import os
import signal
import sys
import threading
import time
import warnings
import weakref
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from . import _rerun
from ._tfdbg import DTYPES, DumpWriter, user_stack
from ._torch_replay import Replay, Stop, storage_of, type_name
from ._torch_stats import ELEMENTS, PLAIN, any_bad, is_bad, tensor_stats

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_REPLAYS = 3  # a program that goes on with NaN would replay every step
FLUSH_SECONDS = 0.5
RARE = 10  # with every < RARE: parameters after every RARE-th step, no histograms
_is_compiling = torch.compiler.is_compiling


def _has_to_be_made(value: Any) -> bool:
    """What a replay cannot take as it is: values gradients flow through, and bad ones."""
    if isinstance(value, torch.Tensor):
        return value.grad_fn is not None or is_bad(value)
    if isinstance(value, (tuple, list, dict)) and len(value) <= 64:
        leaves = value.values() if isinstance(value, dict) else value
        return any(isinstance(leaf, torch.Tensor) and _has_to_be_made(leaf) for leaf in leaves)
    return False


def _root_of_backward() -> Any:
    """Inside a gradient's hook: the tensor whose backward() runs."""
    frame: Any = sys._getframe(2)
    for _ in range(8):
        if frame is None:
            return None
        if frame.f_code is torch.Tensor.backward.__code__:
            return frame.f_locals.get("self")
        frame = frame.f_back
    return None


def _hook_gradient(tensor: torch.Tensor, key: int, hook: Any) -> None:
    """As register_hook, without the handle that would take it away: most of what that costs."""
    made_by: Any = tensor.grad_fn
    hooks = tensor._backward_hooks
    if hooks is not None:
        hooks[key] = hook
    elif hasattr(made_by, "_register_hook_dict"):
        tensor._backward_hooks = collections.OrderedDict(((key, hook),))
        made_by._register_hook_dict(tensor)
    else:
        tensor.register_hook(hook)


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
        self._buffer = self.writer.buffer
        self.every = every
        self.steps = 0
        self.alerts: list[int] = []
        self._model = weakref.ref(model)
        self._graph = self.writer.graph("model")
        self._ring: collections.deque[tuple[int, bytes]] | None = collections.deque(maxlen=ring) if ring else None
        self._lock = threading.Lock()
        self._replays = 0 if replay else MOST_REPLAYS
        self._is_replaying = False
        self._call: tuple[Any, Any, Any, Any] | None = None  # of step(): what to run again
        self._inputs: tuple[Any, Any] | None = None
        self._random: Any = None
        self._out: Any = None
        self._out_grad: Any = None
        self._hooks: list[Any] = []
        self._made: dict[int, str] = {}
        self._places: dict[str, Any] = {}  # of modules: where they are called
        self._last_grad = ""
        self._flushed = 0.0
        self._parameter_rows: dict[str, int] = {}
        self._optimizer = weakref.ref(optimizer) if optimizer is not None else None
        self._has_optimizer = optimizer is not None
        self._update_stack: Any = ()
        self._bad_before = {n for n, p in model.named_parameters() if is_bad(p)}
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
        if any_bad(result) and (not self.alerts or self.alerts[-1] < self.steps - 1):
            self._call = call
            self._alert(self.steps - 1 if self._has_optimizer else self.steps, "result")
            self._call = None
        return result

    def _before(self, model: Any, args: Any, kwargs: Any) -> None:
        if self._is_replaying or _is_compiling() or not torch.is_grad_enabled():
            return
        if not self._has_optimizer and self._inputs is not None:
            self._end_step()
        self._inputs = (args, kwargs)
        self._random = torch.get_rng_state()
        if self.steps % self.every == 0 and not self._hooks:
            self._begin(model)

    def _after(self, model: Any, args: Any, out: Any) -> None:
        if self._is_replaying or _is_compiling() or not torch.is_grad_enabled():
            return
        found = None
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor) and tensor.requires_grad:
                found = found if found is not None else tensor
                if tensor.device.type == "cpu" and self._call is None and is_bad(tensor):
                    self._alert(self.steps, "output")
                    break
        if found is not None:
            self._out = found
            found.register_hook(self._keep_grad)

    def _keep_grad(self, grad: Any) -> None:
        if self._is_replaying:
            return
        self._out_grad = grad
        if self._call is None and grad.device.type == "cpu" and (is_bad(_root_of_backward()) or is_bad(grad)):
            self._alert(self.steps, "loss")

    def _before_update(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._is_replaying:
            raise Stop
        if self._hooks:
            self._record_parameters(optimizer)
        if any(is_bad(p.grad) for p in self._sentinels if p.grad is not None):
            self._alert(self.steps, "gradient")

    def _after_update(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self._is_replaying:
            self._update_stack = user_stack(2)
            self._end_step()

    def _end_step(self) -> None:
        if self._hooks and (self.steps + 1) % self.every:
            for hook in self._hooks:
                hook.remove()
            self._hooks = []
        self._made.clear()
        self._last_grad = ""
        self._inputs = self._out = self._out_grad = None
        if len(self._buffer):
            if self._ring is None:
                self.writer.execution(f"step {self.steps}", self._graph, self.steps)
                if time.monotonic() - self._flushed > FLUSH_SECONDS:
                    self.writer.flush()
                    self._flushed = time.monotonic()
            else:
                with self._lock:
                    self._ring.append((self.steps, self._buffer.take()))
        self.steps += 1

    def dump(self) -> None:
        """Writes what the ring holds: the last steps before now."""
        if self._ring is not None:
            with self._lock:
                steps = list(self._ring)
                self._ring.clear()
            for number, framed in steps:
                self.writer.write_traces(framed)
                self.writer.execution(f"step {number}", self._graph, number)
        self.writer.flush()

    # --- recording
    def _begin(self, model: torch.nn.Module) -> None:
        for name, module in model.named_modules():
            self._hooks.append(module.register_forward_hook(self._module_hook(name or "model", type(module).__name__)))

    def _module_hook(self, name: str, kind: str) -> Any:
        row: int | None = None
        grad_row: int | None = None
        key = -1 - len(self._hooks)  # of the gradient's hook; torch counts its own from 0 on

        def gradient(grad: torch.Tensor) -> None:
            nonlocal grad_row
            if self._is_replaying or not self._hooks:
                return
            if grad_row is None:
                inputs = [f"{self._last_grad}:0"] if self._last_grad else []
                grad_row = self._op(f"{kind} backward", f"{name}/grad", inputs, self._places.get(name, ()))
            self._last_grad = f"{name}/grad"
            self._record(grad_row, grad)

        def hook(module: Any, args: Any, out: Any) -> None:
            nonlocal row
            if self._is_replaying or _is_compiling() or not torch.is_grad_enabled():
                return
            if row is not None and type(out) is torch.Tensor:  # nearly always
                self._record(row, out)
                if out.requires_grad:
                    _hook_gradient(out, key, gradient)
                return
            leaves = (out,) if isinstance(out, torch.Tensor) else tree_leaves(out)
            first = next((t for t in leaves if isinstance(t, torch.Tensor) and t.is_floating_point()), None)
            if first is None:
                return
            if row is None:  # how an op hangs together is written once
                stack = self._places[name] = user_stack(2)
                known = {made for t in args if isinstance(t, torch.Tensor) and (made := self._made.get(storage_of(t)))}
                row = self._op(kind, name, [f"{k}:0" for k in sorted(known)], stack)
                self._made[storage_of(first)] = name
            self._record(row, first)
            if first.requires_grad:
                _hook_gradient(first, key, gradient)

        return hook

    def _op(self, kind: str, name: str, inputs: list[str], stack: Any) -> int:
        self.writer.op(self._graph, kind, name, inputs, stack)
        return self.writer.row(self._graph, name)

    def _record(self, row: int, tensor: torch.Tensor) -> None:
        histogram = self.every >= RARE
        if type(tensor) in PLAIN and self._buffer.add(row, tensor, ELEMENTS, self.steps, histogram):
            return
        stats = tensor_stats(tensor, histogram)
        if stats is not None:
            dtype = DTYPES.get(type_name(tensor), 1)
            self._buffer.add_stats(row, tuple(stats), dtype, tensor.dim(), self.steps, time.time())

    def _record_parameters(self, optimizer: Any) -> None:
        model = self._model()
        if model is None or (self.every < RARE and self.steps >= 2 * RARE and self.steps % RARE):
            return
        rows = self._parameter_rows

        def row(kind: str, name: str, module: str) -> int:
            if name not in rows:
                rows[name] = self._op(kind, name, [], self._places.get(module or "model", ()))
            return rows[name]

        for name, parameter in model.named_parameters():
            module = name.rpartition(".")[0]
            self._record(row("Parameter", name, module), parameter.detach())
            if parameter.grad is not None:
                self._record(row("Gradient", f"{name}/grad", module), parameter.grad)
            for key, value in optimizer.state.get(parameter, {}).items():
                if isinstance(value, torch.Tensor) and value.dim() > 0:
                    self._record(row("Optimizer", f"{name}/{key}", module), value)

    # --- alerts
    def _alert(self, step: int, kind: str) -> None:
        if self.alerts and self.alerts[-1] == step:
            return
        self.alerts.append(step)
        if len(self.alerts) > 1000:
            del self.alerts[1:-1]
        self.dump()
        if self._replays < MOST_REPLAYS:
            self._replays += 1
            try:
                self._replay(step, kind)
            except Exception as error:
                self.writer._fail(f"the replay of step {step} failed: {error}")
        self.writer.flush()

    def _attempts(self, kind: str) -> list[Callable[[], None]]:
        """What to run again, best first, until one of them shows where it began."""
        if self._call is not None:
            function, args, kwargs, random = self._call

            def whole() -> None:
                torch.set_rng_state(random)
                function(*args, **kwargs)

            return [whole]
        model, inputs, out_grad, random = self._model(), self._inputs, self._out_grad, self._random
        if model is None or inputs is None:
            return []
        places = _rerun.current_places(3)
        is_around = kind == "loss" or (kind == "output" and any_bad(inputs))
        statements = _rerun.chosen(places, _has_to_be_made) if is_around else None

        def around() -> None:
            if statements is not None:
                torch.set_rng_state(random)
                _rerun.execute(*statements)

        def inside() -> None:
            torch.set_rng_state(random)
            out = model(*inputs[0], **inputs[1])
            first = next((t for t in tree_leaves(out) if isinstance(t, torch.Tensor) and t.requires_grad), None)
            if out_grad is not None and first is not None and first.shape == out_grad.shape:
                first.backward(out_grad)

        def behind() -> None:
            inside()
            if places:
                _rerun.execute(_rerun.between_backward_and(places[0]), places[0])

        if is_around:
            return [around, inside]
        return [inside, behind] if kind == "gradient" else [inside]

    def _replay(self, step: int, kind: str) -> None:
        model = self._model()
        attempts = self._attempts(kind)
        if model is None or not attempts:
            return
        names = {storage_of(p): n for n, p in [*model.named_parameters(), *model.named_buffers()]}
        mode = Replay(names, self._updated)
        for attempt in attempts:
            mode = Replay(names, self._updated)
            with contextlib.suppress(Stop), self._replaying(model, mode):
                attempt()
            if mode.is_bad:
                break
        graph = self.writer.graph(f"replay of step {step}", self._graph)
        for node in mode.nodes:
            self.writer.op(graph, node["kind"], node["name"], node["inputs"], node["stack"])
            self.writer.trace(graph, node["name"], node["stats"], step, node["dtype"], node["rank"], wall=node["wall"])
        self.writer.execution(f"replay of step {step}", graph, step)

    @contextlib.contextmanager
    def _replaying(self, model: torch.nn.Module, mode: Replay) -> Any:
        """Everything a replay changes is as before when it ends; gradients are not sent to other ranks."""
        grads = [(p, p.grad) for p in model.parameters()]
        buffers = [(b, b.detach().clone()) for b in model.buffers()]
        state = torch.get_rng_state()
        self._is_replaying = True
        try:
            for parameter, _ in grads:
                parameter.grad = None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                anomaly = torch.autograd.detect_anomaly(check_nan=False)
            quiet = model.no_sync() if hasattr(model, "no_sync") else contextlib.nullcontext()
            with quiet, anomaly, mode, torch.enable_grad():
                try:
                    yield
                except Exception as error:
                    if not mode.is_bad:  # otherwise it ran far enough
                        self.writer.note(f"a replay ended early: {type(error).__name__}: {error}")
        finally:
            for parameter, grad in grads:
                parameter.grad = grad
            with torch.no_grad():
                for buffer, before in buffers:
                    buffer.copy_(before)
            torch.set_rng_state(state)
            self._is_replaying = False

    def _updated(self, name: str) -> tuple[str, Any, dict[str, Any]] | None:
        """Of a bad parameter that was none before training: the update that made it, and the optimizer's state."""
        optimizer = self._optimizer() if self._optimizer is not None else None
        model = self._model()
        if optimizer is None or model is None or name in self._bad_before or not self._update_stack:
            return None
        parameter = dict(model.named_parameters()).get(name)
        state = {k: v for k, v in optimizer.state.get(parameter, {}).items() if isinstance(v, torch.Tensor) and v.dim() > 0}
        return f"{type(optimizer).__name__} update", self._update_stack, state

    def close(self) -> None:
        """Writes what is left and takes all hooks away."""
        atexit.unregister(self.close)
        if len(self._buffer):
            self._end_step()
        self.dump()
        for hook in [*self._kept, *self._hooks]:
            hook.remove()
        self._kept, self._hooks = [], []

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
