"""Writes event files without any library: what the benchmarks read is made here, the same on every machine."""

import struct
from pathlib import Path

_TABLE = []
for _i in range(256):
    _c = _i
    for _ in range(8):
        _c = (_c >> 1) ^ 0x82F63B78 if _c & 1 else _c >> 1
    _TABLE.append(_c)


def masked_crc(data: bytes) -> int:
    crc = 0xFFFFFFFF
    table = _TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def record(data: bytes, checked: bool = True) -> bytes:
    """A frame. `checked` False writes 0 as the checksum of the payload: for hundreds of megabytes."""
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked_crc(head)) + data + struct.pack("<I", masked_crc(data) if checked else 0)


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number: int, data: bytes | str) -> bytes:
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


def double(number: int, value: float) -> bytes:
    return varint(number << 3 | 1) + struct.pack("<d", value)


def event(wall: float, step: int, body: bytes) -> bytes:
    return record(double(1, wall) + varint(2 << 3) + varint(step) + body)


def first(wall: float) -> bytes:
    return record(double(1, wall) + field(3, "brain.Event:2"))


def scalars(wall: float, step: int, values: dict[str, float]) -> bytes:
    summary = b"".join(field(1, field(1, tag) + varint(2 << 3 | 5) + struct.pack("<f", value)) for tag, value in values.items())
    return event(wall, step, field(5, summary))


def _value(value: bool | float | str) -> bytes:
    if isinstance(value, bool):
        return varint(4 << 3) + varint(int(value))
    if isinstance(value, str):
        return field(3, value)
    return double(2, value)


def _hparams(wall: float, tag: str, data: bytes) -> bytes:
    metadata = field(1, field(1, "hparams") + field(2, data))
    tensor = varint(1 << 3) + varint(1) + field(2, field(2, varint(1 << 3) + varint(0)))  # float32, shape [0]
    return event(wall, 0, field(5, field(1, field(1, tag) + field(9, metadata) + field(8, tensor))))


def session(wall: float, values: dict[str, bool | float | str], end: float | None, status: int = 1) -> bytes:
    """Start and end of a session, as the hparams plug-in's writers put them."""
    start = b"".join(field(1, field(1, name) + field(2, _value(value))) for name, value in values.items()) + double(5, wall)
    out = _hparams(wall, "_hparams_/session_start_info", field(3, start))
    if end is not None:
        out += _hparams(end, "_hparams_/session_end_info", field(4, varint(1 << 3) + varint(status) + double(2, end)))
    return out


def write(path: Path, parts: list[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(parts))
