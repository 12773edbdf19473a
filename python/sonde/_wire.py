"""Protobuf messages written by hand: a Message collects fields, bytes() is its serialized form.

The messages of hyperparameters, layouts and graphs are small and rare, so they are made here; everything
that is called often or touches arrays is made in C++.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

# Message has methods of these names.
Real = float
Data = bytes


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Message:
    """Fields in the order they are added; defaults are left out by `text` and `number` as protobuf does."""

    __slots__ = ("_parts",)

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def varint(self, field: int, value: int) -> Message:
        self._parts += (varint(field << 3), varint(value))
        return self

    def double(self, field: int, value: Real) -> Message:
        self._parts += (varint(field << 3 | 1), struct.pack("<d", value))
        return self

    def float(self, field: int, value: Real) -> Message:
        self._parts += (varint(field << 3 | 5), struct.pack("<f", value))
        return self

    def bytes(self, field: int, value: Data | Message) -> Message:
        data = bytes(value)
        self._parts += (varint(field << 3 | 2), varint(len(data)), data)
        return self

    def text(self, field: int, value: str | None) -> Message:
        return self.bytes(field, value.encode()) if value else self

    def number(self, field: int, value: Real | None) -> Message:
        return self.double(field, value) if value else self

    def packed(self, field: int, values: Iterable[int]) -> Message:
        return self.bytes(field, b"".join(map(varint, values)))

    def __bytes__(self) -> Data:
        return b"".join(self._parts)


class Summary(bytes):
    """A serialized Summary message; looks enough like the protobuf class for code that only passes it on."""

    def SerializeToString(self) -> bytes:
        return bytes(self)


def metadata(plugin: str = "", content: bytes = b"", display_name: str = "", description: str = "") -> Message:
    out = Message()
    if plugin:
        data = Message().text(1, plugin)
        if content:
            data.bytes(2, content)
        out.bytes(1, data)
    return out.text(2, display_name).text(3, description)


def shape(dims: Iterable[int]) -> Message:
    out = Message()
    for size in dims:
        out.bytes(2, Message().varint(1, size) if size else b"")
    return out


def strings(values: Iterable[bytes], dims: Iterable[int]) -> Message:
    """A TensorProto of strings."""
    out = Message().varint(1, 7).bytes(2, shape(dims))
    for value in values:
        out.bytes(8, value)
    return out


def value(tag: str | None, **fields: bytes | Message) -> Message:
    """Summary.Value with `tensor`, `image`, `audio`, `histo` and `metadata`, in the order of their numbers."""
    numbers = {"image": 4, "histo": 5, "audio": 6, "tensor": 8, "metadata": 9}
    out = Message().text(1, tag)
    for name in sorted(fields, key=lambda n: numbers[n]):
        out.bytes(numbers[name], fields[name])
    return out


def summary(*values: Message) -> Summary:
    out = Message()
    for one in values:
        out.bytes(1, one)
    return Summary(bytes(out))
