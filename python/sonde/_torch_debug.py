"""sonde.debug.watch for PyTorch: hooks that count, and the replay of a bad step op by op."""

from __future__ import annotations

import atexit
import collections
import contextlib
import gc
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

from . import _rerun, _sonde
from ._tfdbg import DTYPES, DumpWriter, Place, user_stack
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
        self._buffer.set_elements(ELEMENTS)
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
        self._native = _sonde.ModuleHooks(
            self._buffer, torch.Tensor, torch.is_grad_enabled, collections.OrderedDict, every >= RARE
        )
        self._module_places: dict[str, _sonde.ModulePlace] = {}
        self._flushed = 0.0
        self._has_masks = False
        self._is_skipped = False
        self._scaler: Any = None  # a weak reference
        self._parameter_rows: dict[str, int] = {}
        self._parameters: list[tuple[Any, ...]] = []
        self._optimizer = weakref.ref(optimizer) if optimizer is not None else None
        self._has_optimizer = optimizer is not None
        self._update_place = Place()
        self._update_stack: Any = ()
        self._bad_before = {n for n, p in model.named_parameters() if is_bad(p)}
        trained = [p for p in model.parameters() if p.requires_grad]
        self._sentinels = trained[:2] + trained[2:][-2:]
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
        if self._is_skipped:  # a loss scaler let the update out: the step is done again
            self._is_skipped = False
            self._buffer.drop()
        self._inputs = (args, kwargs)
        if self._call is None:
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
                if tensor.device.type == "cpu" and self._call is None and self._is_wrong(tensor):
                    self._alert(self.steps, "output")
                    break
        if found is not None:
            self._out = found
            found.register_hook(self._keep_grad)

    def _is_wrong(self, output: torch.Tensor) -> bool:
        """Infinities that the model writes on purpose were looked at once."""
        if not is_bad(output):
            return False
        return not self._has_masks or bool(output.detach().isnan().any())

    def _keep_grad(self, grad: Any) -> None:
        if self._is_replaying:
            return
        self._out_grad = grad
        if grad.device.type != "cpu":
            return
        root = _root_of_backward() if self._call is None else None
        if is_bad(root):
            self._alert(self.steps, "loss")
        elif is_bad(grad):
            if self._is_scaled():
                self._is_skipped = True  # unless the update comes
            else:
                self._alert(self.steps, "loss")

    def _is_scaled(self) -> bool:
        """A loss scaler is at work: it tries scales that are too large, and skips the update where one was."""
        if self._scaler is None or self._scaler() is None:
            found = (x for x in gc.get_objects() if issubclass(type(x), torch.amp.GradScaler) and x.is_enabled())
            scaler = next(found, None)
            self._scaler = scaler if scaler is None else weakref.ref(scaler)
        scaler = self._scaler and self._scaler()
        return scaler is not None and scaler.get_scale() > 1

    def _before_update(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._is_replaying:
            raise Stop
        self._is_skipped = False
        if self._hooks:
            self._update_stack = self._update_place.stack(1)
            self._record_parameters(optimizer)
        if any(is_bad(p.grad) for p in self._sentinels if p.grad is not None):
            self._alert(self.steps, "gradient")

    def _after_update(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self._is_replaying:
            self._update_stack = self._update_place.stack(1)
            self._end_step()

    def _end_step(self) -> None:
        if self._hooks and (self.steps + 1) % self.every:
            for hook in self._hooks:
                hook.remove()
            self._hooks = []
        self._made.clear()
        self._native.is_on = bool(self._hooks)
        self._native.last_grad = ""
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
        self._native.step = self.steps

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
        self._native.is_on = True

    def _module_hook(self, name: str, kind: str) -> Any:
        """The native part counts what it knows; the first step and odd outputs come to Python."""
        native = self._native
        place = self._module_places.setdefault(name, _sonde.ModulePlace())
        place.key = -1 - len(self._hooks)
        see_output, see_gradient, hook_gradient = native.output, native.gradient, native.hook_gradient

        def gradient(grad: torch.Tensor) -> None:
            if see_gradient(place, grad):
                return
            if place.grad_row < 0:
                inputs = [f"{native.last_grad}:0"] if native.last_grad else []
                place.grad_name = f"{name}/grad"
                place.grad_row = self._op(f"{kind} backward", place.grad_name, inputs, self._places.get(name, ()))
            native.last_grad = place.grad_name
            self._record(place.grad_row, grad)

        def hook(module: Any, args: Any, out: Any) -> None:
            if _is_compiling() or see_output(place, out, gradient) or not torch.is_grad_enabled():
                return
            leaves = (out,) if isinstance(out, torch.Tensor) else tree_leaves(out)
            first = next((t for t in leaves if isinstance(t, torch.Tensor) and t.is_floating_point()), None)
            if first is None:
                return
            if place.row < 0:  # how an op hangs together is written once
                stack = self._places[name] = user_stack(2)
                known = {made for t in args if isinstance(t, torch.Tensor) and (made := self._made.get(storage_of(t)))}
                place.row = self._op(kind, name, [f"{k}:0" for k in sorted(known)], stack)
                self._made[storage_of(first)] = name
            self._record(place.row, first)
            if first.requires_grad and not hook_gradient(place, first, gradient):
                first.register_hook(gradient)

        return hook

    def _op(self, kind: str, name: str, inputs: list[str], stack: Any) -> int:
        self.writer.op(self._graph, kind, name, inputs, stack)
        return self.writer.row(self._graph, name)

    def _record(self, row: int, tensor: torch.Tensor) -> None:
        histogram = self.every >= RARE
        if type(tensor) in PLAIN and self._buffer.add(row, tensor, self.steps, histogram):
            return
        stats = tensor_stats(tensor, histogram)
        if stats is not None:
            dtype = DTYPES.get(type_name(tensor), 1)
            self._buffer.add_stats(row, tuple(stats), dtype, tensor.dim(), self.steps, time.time())

    def _record_parameters(self, optimizer: Any) -> None:
        model = self._model()
        if model is None or (self.every < RARE and self.steps >= 2 * RARE and self.steps % RARE):
            return
        if self.every >= RARE or self.steps % (10 * RARE) == 0 or not self._parameters:
            self._parameters = [self._rows_of(n, p) for n, p in model.named_parameters()]
        for reference, name, module, row, grad_row in self._parameters:
            parameter = reference()
            if parameter is None:
                continue
            self._record(row, parameter)
            if parameter.grad is not None:
                self._record(grad_row, parameter.grad)
            for key, value in optimizer.state.get(parameter, {}).items():
                if isinstance(value, torch.Tensor) and value.dim() > 0:
                    self._record(self._parameter_row("Optimizer", f"{name}/{key}", module), value)

    def _rows_of(self, name: str, parameter: torch.nn.Parameter) -> tuple[Any, ...]:
        module = name.rpartition(".")[0]
        rows = (self._parameter_row("Parameter", name, module), self._parameter_row("Gradient", f"{name}/grad", module))
        return weakref.ref(parameter), name, module, *rows

    def _parameter_row(self, kind: str, name: str, module: str) -> int:
        if name not in self._parameter_rows:
            place = self._places.get(module or "model", ())
            if kind != "Gradient" and name not in self._bad_before:  # it is what the update made of it
                place = self._update_stack or place
            self._parameter_rows[name] = self._op(kind, name, [], place)
        return self._parameter_rows[name]

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
        buffers = {n for n, _ in model.named_buffers()}
        mode = Replay(names, buffers, self._updated)
        for attempt in attempts:
            mode = Replay(names, buffers, self._updated)
            with contextlib.suppress(Stop), self._replaying(model, mode):
                attempt()
            if mode.is_bad and not mode.is_meant:
                break
        if kind == "output" and mode.is_meant:
            self._has_masks = True
            self._replays -= 1
            self.alerts.pop()
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
        self._is_replaying, self._native.is_on = True, False
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
            self._is_replaying, self._native.is_on = False, bool(self._hooks)

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
