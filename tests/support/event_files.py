"""Event files written byte by byte, without any library: for logs that no library would write."""

import struct


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = _table()


def crc32c(data):
    """Masked, as record files have it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def framed(event):
    head = struct.pack("<Q", len(event))
    return head + struct.pack("<I", crc32c(head)) + event + struct.pack("<I", crc32c(event))


def event(step, *fields):
    """A framed Event of these fields."""
    return framed(struct.pack("<Bd", 9, 1.7e9 + step) + b"\x10" + varint(step) + b"".join(fields))


def record(step, value):
    """A framed Event with one summary value."""
    return event(step, field(5, field(1, value)))


def scalar(tag, step, value):
    return record(step, field(1, tag.encode()) + b"\x15" + struct.pack("<f", value))


def text(tag, step, markdown):
    return record(step, field(1, tag.encode()) + field(8, b"\x08\x07" + field(8, markdown)) + field(9, field(1, field(1, b"text"))))
