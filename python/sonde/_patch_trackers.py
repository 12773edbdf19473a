"""sonde.patch() for programs that log to wandb or MLflow: every number also goes to a Sonde run.

The other tracker keeps working as before; wandb may be offline. The runs stand in $SONDE_DIR (`runs` unless it is set), under
the project or experiment and the name that the other tracker knows. Nothing here raises into the training program.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import math
import sys
import warnings
from typing import Any

_WANDB, _MLFLOW = "wandb.sdk.wandb_run", "mlflow.tracking.client"
_runs: dict[str, Any] = {}  # by the other tracker's id
_warned: set[str] = set()


def _quietly(what: str, call: Any) -> None:
    """Sonde's half of a call: whatever goes wrong in it is said once and kept from the program."""
    try:
        call()
    except Exception as error:
        if what not in _warned:
            _warned.add(what)
            warnings.warn(f"sonde: {what} is not mirrored: {error}", RuntimeWarning, stacklevel=4)


def _run(key: str, make: Any) -> Any:
    if key not in _runs:
        from .run import Run

        # Console and machine metrics are the other tracker's business here.
        _runs[key] = Run(**make(), system=False, console=False, code=False)
    return _runs[key]


def _finish(key: str, exit_code: int) -> None:
    run = _runs.pop(key, None)
    if run is not None:
        run.finish(exit_code)


def _loggable(data: Any) -> dict[str, Any]:
    """Numbers and texts, also in dicts; media objects of the other tracker stay out."""
    out: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, dict):
            inner = _loggable(value)
            if inner:
                out[str(name)] = inner
        elif isinstance(value, (bool, int, float, str)):
            out[str(name)] = value
        elif _is_one_number(value):
            out[str(name)] = value.item()
    return out


def _is_one_number(value: Any) -> bool:
    """An array or a tensor of one element."""
    count = value.numel() if callable(getattr(value, "numel", None)) else getattr(value, "size", 0)
    return hasattr(value, "item") and bool(count == 1)


def _wandb_methods(run_class: Any) -> dict[str, Any]:
    log, finish = run_class.log, run_class.finish

    def open_run(run: Any) -> Any:
        return _run(
            f"wandb-{run.id}",
            lambda: {"project": run.project, "name": run.name or run.id, "config": {k: v for k, v in dict(run.config).items() if k != "_wandb"}},
        )

    @functools.wraps(log)
    def logged(self: Any, data: Any, step: int | None = None, commit: bool | None = None, *rest: Any, **named: Any) -> Any:
        at = self.step if step is None else step
        out = log(self, data, step, commit, *rest, **named)
        _quietly("wandb.log", lambda: open_run(self).log(_loggable(data), step=at))
        return out

    @functools.wraps(finish)
    def finished(self: Any, exit_code: int | None = None, *rest: Any, **named: Any) -> Any:
        _quietly("wandb.finish", lambda: _finish(f"wandb-{self.id}", exit_code or 0))
        return finish(self, exit_code, *rest, **named)

    return {"log": logged, "finish": finished}


def _mlflow_methods(client_class: Any) -> dict[str, Any]:
    log_metric, log_batch = client_class.log_metric, client_class.log_batch
    log_param, set_terminated = client_class.log_param, client_class.set_terminated

    def open_run(client: Any, run_id: str) -> Any:
        def describe() -> dict[str, Any]:
            found = client.get_run(run_id)
            experiment = client.get_experiment(found.info.experiment_id)
            return {"project": experiment.name, "name": found.info.run_name or run_id, "config": _numbers(found.data.params)}

        return _run(f"mlflow-{run_id}", describe)

    def mirror(client: Any, run_id: str, metrics: Any, params: dict[str, Any]) -> None:
        run = open_run(client, run_id)
        if params:
            run.config.update(_numbers(params))
        for step, values in metrics.items():
            run.log(values, step=step)

    @functools.wraps(log_metric)
    def metric_logged(self: Any, run_id: str, key: str, value: Any, timestamp: Any = None, step: int | None = None, *rest: Any, **named: Any) -> Any:
        out = log_metric(self, run_id, key, value, timestamp, step, *rest, **named)
        _quietly("mlflow.log_metric", lambda: mirror(self, run_id, {step or 0: _loggable({key: value})}, {}))
        return out

    @functools.wraps(log_batch)
    def batch_logged(self: Any, run_id: str, metrics: Any = (), params: Any = (), *rest: Any, **named: Any) -> Any:
        metrics, params = list(metrics), list(params)
        out = log_batch(self, run_id, metrics, params, *rest, **named)
        by_step: dict[int, dict[str, Any]] = {}
        for metric in metrics:
            by_step.setdefault(metric.step or 0, {})[metric.key] = metric.value
        _quietly("mlflow.log_batch", lambda: mirror(self, run_id, by_step, {p.key: p.value for p in params}))
        return out

    @functools.wraps(log_param)
    def param_logged(self: Any, run_id: str, key: str, value: Any, *rest: Any, **named: Any) -> Any:
        out = log_param(self, run_id, key, value, *rest, **named)
        _quietly("mlflow.log_param", lambda: mirror(self, run_id, {}, {key: value}))
        return out

    @functools.wraps(set_terminated)
    def terminated(self: Any, run_id: str, status: Any = None, *rest: Any, **named: Any) -> Any:
        _quietly("mlflow.end_run", lambda: _finish(f"mlflow-{run_id}", 0 if status in (None, "FINISHED") else 1))
        return set_terminated(self, run_id, status, *rest, **named)

    return {"log_metric": metric_logged, "log_batch": batch_logged, "log_param": param_logged, "set_terminated": terminated}


def _numbers(params: dict[str, Any]) -> dict[str, Any]:
    """MLflow keeps parameters as text."""
    out: dict[str, Any] = {}
    for name, value in params.items():
        try:
            number = float(value)
            out[name] = int(number) if number.is_integer() and str(value).lstrip("+-").isdigit() else number
            if not math.isfinite(number):
                out[name] = str(value)
        except (TypeError, ValueError):
            out[name] = value
    return out


_CLASSES = {_WANDB: ("Run", _wandb_methods), _MLFLOW: ("MlflowClient", _mlflow_methods)}


def _replace(module: Any, undo: list[Any]) -> None:
    name, methods = _CLASSES[module.__name__]
    owner = getattr(module, name, None)
    if not isinstance(owner, type):
        return
    for method, ours in methods(owner).items():
        undo.append((owner, method, getattr(owner, method)))
        setattr(owner, method, ours)


class _Loader(importlib.abc.Loader):
    def __init__(self, original: Any, undo: list[Any]) -> None:
        self.original, self.undo = original, undo

    def create_module(self, spec: Any) -> Any:
        return self.original.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self.original.exec_module(module)
        _replace(module, self.undo)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, undo: list[Any]) -> None:
        self.undo, self.looking = undo, False

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname not in _CLASSES or self.looking:
            return None
        self.looking = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self.looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.undo)
        return spec


def patch(undo: list[Any]) -> None:
    """Adds what unpatch() has to take back to `undo`."""
    finder = _Finder(undo)
    sys.meta_path.insert(0, finder)
    undo.append((sys.meta_path, finder, None))
    for name in _CLASSES:
        if name in sys.modules:
            _replace(sys.modules[name], undo)
