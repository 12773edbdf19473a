"""RecordWriter of tensorboardX: bytes into a file of TFRecord frames, for programs that write their own events."""

from __future__ import annotations

import os
import struct
from typing import Any

_POLYNOMIAL = 0x82F63B78


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _table()


def masked_crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


class RecordWriter:
    def __init__(self, path: Any) -> None:
        self.path = os.fspath(path)
        os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
        self._file = open(self.path, "wb")  # noqa: SIM115 - closed by close()

    def write(self, data: bytes) -> None:
        head = struct.pack("<Q", len(data))
        self._file.write(head + struct.pack("<I", masked_crc32c(head)))
        self._file.write(data + struct.pack("<I", masked_crc32c(data)))

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()
