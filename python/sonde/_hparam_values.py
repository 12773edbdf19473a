"""Hyperparameters as the hparams plug-in's summaries hold them: HParamsPluginData with a SessionStartInfo."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

_SESSION_START = 3  # of HParamsPluginData
_HPARAMS, _GROUP = 1, 4  # of SessionStartInfo
_KEY, _VALUE = 1, 2  # of a map's entry
_NUMBER, _STRING, _BOOL, _STRUCT, _LIST = 2, 3, 4, 5, 6  # of google.protobuf.Value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise ValueError("a number is cut")


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Fields of a message; raises ValueError where it is cut."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind == 2:
            length, at = _varint(data, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError(f"wire type {kind}")
        if at + length > len(data):
            raise ValueError("a field is cut")
        yield key >> 3, data[at : at + length]
        at += length


def _value(data: bytes) -> Any:
    for field, value in _fields(data):
        if field == _NUMBER and isinstance(value, bytes) and len(value) == 8:
            return struct.unpack("<d", value)[0]
        if field == _STRING and isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if field == _BOOL:
            return bool(value)
        if field in (_STRUCT, _LIST):
            return "…"
    return None


def session_start(content: bytes) -> tuple[dict[str, Any], str] | None:
    """The hyperparameters and the group of a session; None when the content is something else or damaged."""
    try:
        start = next((value for field, value in _fields(content) if field == _SESSION_START), None)
        if not isinstance(start, bytes):
            return None
        params: dict[str, Any] = {}
        group = ""
        for field, value in _fields(start):
            if field == _HPARAMS:
                entry = dict(_fields(value))
                params[entry.get(_KEY, b"").decode("utf-8", "replace")] = _value(entry.get(_VALUE, b""))
            elif field == _GROUP:
                group = value.decode("utf-8", "replace")
        return params, group
    except (ValueError, AttributeError):
        return None
