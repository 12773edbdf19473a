"""Hyperparameters, mirroring tensorboard.plugins.hparams.api.

import sonde.hparams as hp
with writer.as_default():
    hp.hparams({"lr": 0.1, "layers": 3}, trial_id="first")
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import time
from typing import TYPE_CHECKING, Any

from . import summary as _summary
from ._wire import Message, Summary, metadata, shape, summary, value

if TYPE_CHECKING:
    KerasCallback: Any  # made by __getattr__ below

__all__ = [
    "Discrete",
    "Domain",
    "HParam",
    "IntInterval",
    "KerasCallback",
    "Metric",
    "RealInterval",
    "hparams",
    "hparams_config",
    "hparams_config_pb",
    "hparams_pb",
]

_STRING, _BOOL, _FLOAT64 = 1, 2, 3


class Domain:
    """The values a hyperparameter can take."""

    @property
    def dtype(self) -> type:
        """The type of the values."""
        raise NotImplementedError

    def sample_uniform(self, rng: Any = random) -> Any:
        """A value, each as likely."""
        raise NotImplementedError

    def _put(self, info: Message) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._key()!r}"

    def _key(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._key() == other._key()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), self._key()))


class _Interval(Domain):
    _kind: type = float

    def __init__(self, min_value: Any, max_value: Any) -> None:
        for name, bound in (("min_value", min_value), ("max_value", max_value)):
            if not isinstance(bound, self._kind):
                raise TypeError(f"{name} must be {'an int' if self._kind is int else 'a float'}: {bound!r}")
        if min_value > max_value:
            raise ValueError(f"{min_value!r} > {max_value!r}")
        self._min, self._max = min_value, max_value

    min_value = property(lambda self: self._min)
    max_value = property(lambda self: self._max)

    @property
    def dtype(self) -> type:
        return self._kind

    def _key(self) -> tuple[Any, ...]:
        return self._min, self._max

    def _put(self, info: Message) -> None:
        info.varint(4, _FLOAT64).bytes(6, Message().number(1, float(self._min)).number(2, float(self._max)))


class IntInterval(_Interval):
    """Whole numbers from min_value to max_value, both included."""

    _kind = int

    def sample_uniform(self, rng: Any = random) -> int:
        """A whole number of the interval, each as likely."""
        return rng.randint(self._min, self._max)


class RealInterval(_Interval):
    """Real numbers from min_value to max_value."""

    def sample_uniform(self, rng: Any = random) -> float:
        """A number of the interval, each as likely."""
        return rng.uniform(self._min, self._max)


class Discrete(Domain):
    """A finite set of values of one type: int, float, bool or str."""

    def __init__(self, values: Any, dtype: type | None = None) -> None:
        self._values = list(values)
        if dtype is None:
            if not self._values:
                raise ValueError("Empty domain with no dtype specified")
            dtype = type(self._values[0])
        if dtype not in (int, float, bool, str):
            raise ValueError(f"Unknown dtype: {dtype!r}")
        self._dtype = dtype
        for one in self._values:
            if not isinstance(one, dtype):
                raise TypeError(f"dtype mismatch: not isinstance({one!r}, {dtype.__name__})")
        self._values.sort()

    @property
    def dtype(self) -> type:
        """The type all values share."""
        return self._dtype

    @property
    def values(self) -> list[Any]:
        """The values, sorted."""
        return list(self._values)

    def sample_uniform(self, rng: Any = random) -> Any:
        """One of the values, each as likely."""
        return rng.choice(self._values)

    def _key(self) -> tuple[Any, ...]:
        return (tuple(self._values),)

    def _put(self, info: Message) -> None:
        info.varint(4, {str: _STRING, bool: _BOOL}.get(self._dtype, _FLOAT64))
        values = Message()
        for one in self._values:
            values.bytes(1, _value(one))
        info.bytes(5, values)


class HParam:
    """A hyperparameter with an optional domain and words for the dashboard."""

    def __init__(
        self, name: str, domain: Domain | None = None, display_name: str | None = None, description: str | None = None
    ) -> None:
        if not isinstance(domain, (Domain, type(None))):
            raise ValueError(f"not a domain: {domain!r}")
        self._name, self._domain, self._display_name, self._description = name, domain, display_name, description

    name = property(lambda self: self._name)
    domain = property(lambda self: self._domain)
    display_name = property(lambda self: self._display_name)
    description = property(lambda self: self._description)

    def __str__(self) -> str:
        return f"<HParam {self._name!r}: {self._domain}>"

    def _key(self) -> tuple[Any, ...]:
        return self._name, self._domain, self._display_name, self._description

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HParam) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


class Metric:
    """A metric by its tag and, if it is in another run, that run's path below the session's (`group`)."""

    TRAINING = 1
    VALIDATION = 2

    def __init__(
        self,
        tag: str,
        group: str | None = None,
        display_name: str | None = None,
        description: str | None = None,
        dataset_type: int | None = None,
    ) -> None:
        if dataset_type not in (None, Metric.TRAINING, Metric.VALIDATION):
            raise ValueError(f"invalid dataset type: {dataset_type!r}")
        self._tag, self._group, self._display_name = tag, group, display_name
        self._description, self._dataset_type = description, dataset_type

    def as_proto(self) -> bytes:
        """As a MetricInfo of the experiment record."""
        name = Message().text(1, self._group).text(2, self._tag)
        out = Message().bytes(1, name).text(3, self._display_name).text(4, self._description)
        return bytes(out.varint(5, self._dataset_type) if self._dataset_type else out)


def _value(given: Any) -> Message:
    if isinstance(given, bool):
        return Message().varint(4, int(given))
    if isinstance(given, (int, float)):
        return Message().double(2, float(given))
    if isinstance(given, str):
        return Message().bytes(3, given.encode())
    raise TypeError(f"Unsupported type: {type(given)}")


def _plain(given: Any) -> Any:
    """NumPy scalars as Python ones."""
    return given.item() if hasattr(given, "item") and not isinstance(given, (bool, int, float, str)) else given


def _normalized(hparams: dict[Any, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, given in hparams.items():
        name = key.name if isinstance(key, HParam) else key
        if name in out:
            raise ValueError(f"multiple values specified for hparam {name!r}")
        out[name] = _plain(given)
    return out


def _hparams_summary(tag: str, field: int, content: Message) -> Summary:
    empty = Message().varint(1, 1).bytes(2, shape([0]))
    plugin = bytes(Message().bytes(field, content))
    return summary(value(f"_hparams_/{tag}", tensor=empty, metadata=metadata("hparams", plugin)))


def _group_name(hparams: dict[str, Any]) -> str:
    text = json.dumps(hparams, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def hparams_pb(hparams: dict[Any, Any], trial_id: str | None = None, start_time_secs: float | None = None) -> Summary:
    """The summary that hparams() writes."""
    plain = _normalized(hparams)
    content = Message()
    for name in sorted(plain):
        content.bytes(1, Message().text(1, name).bytes(2, _value(plain[name])))
    content.text(4, _group_name(plain) if trial_id is None else trial_id)
    content.number(5, time.time() if start_time_secs is None else float(start_time_secs))
    return _hparams_summary("session_start_info", 3, content)


def hparams_config_pb(hparams: Any, metrics: Any, time_created_secs: float | None = None) -> Summary:
    """The summary that hparams_config() writes."""
    content = Message().number(3, time.time() if time_created_secs is None else float(time_created_secs))
    for hparam in hparams:
        info = Message().text(1, hparam.name).text(2, hparam.display_name).text(3, hparam.description)
        if hparam.domain is not None:
            hparam.domain._put(info)
        content.bytes(4, info)
    for metric in metrics:
        content.bytes(5, metric.as_proto())
    return _hparams_summary("experiment", 2, content)


def _write(made: Summary) -> bool:
    if not _summary.should_record_summaries():
        return False
    return _summary._state.writer._add(made, 0)


def hparams(hparams: dict[Any, Any], trial_id: str | None = None, start_time_secs: float | None = None) -> bool:
    """Writes the values of this trial to the default writer, at step 0."""
    return _write(hparams_pb(hparams, trial_id, start_time_secs))


def hparams_config(hparams: Any, metrics: Any, time_created_secs: float | None = None) -> bool:
    """Writes the description of an experiment to the default writer."""
    return _write(hparams_config_pb(hparams, metrics, time_created_secs))


def session_end_pb(status: int, end_time_secs: float | None = None) -> Summary:
    """The Summary that says how a session ended."""
    content = Message().varint(1, status).number(2, time.time() if end_time_secs is None else end_time_secs)
    return _hparams_summary("session_end_info", 4, content)


def __getattr__(name: str) -> Any:
    # A Keras callback must derive from Keras's class, and Keras is not imported before somebody wants one.
    if name == "KerasCallback":
        made = _keras_callback()
        globals()[name] = made
        return made
    raise AttributeError(name)


def _keras_callback() -> type:
    from keras.callbacks import Callback

    class KerasCallback(Callback):
        """Logs the hyperparameters at the start of fit() and success at its end. One trial only."""

        def __init__(self, writer: Any, hparams: dict[Any, Any], trial_id: str | None = None) -> None:
            if writer is None:
                raise TypeError("writer must be a `SummaryWriter` or `str`, not None")
            super().__init__()
            self._hparams = dict(hparams)
            self._trial_id = _group_name(_normalized(hparams)) if trial_id is None else trial_id
            self._log = (
                _summary.create_file_writer(os.fspath(writer)) if isinstance(writer, (str, os.PathLike)) else writer
            )
            self._used = False

        def on_train_begin(self, logs: Any = None) -> None:
            if self._used:
                raise RuntimeError("hparams Keras callback cannot be reused across training sessions")
            self._used = True
            with self._log.as_default():
                hparams(self._hparams, self._trial_id)

        def on_train_end(self, logs: Any = None) -> None:
            with self._log.as_default():
                _write(session_end_pb(1))
            self._log.flush()

    return KerasCallback
