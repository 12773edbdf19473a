"""Event files made by hand: a version, then one scalar a record."""

import struct

TABLE = []
for _i in range(256):
    _c = _i
    for _ in range(8):
        _c = _c >> 1 ^ (0x82F63B78 if _c & 1 else 0)
    TABLE.append(_c)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def frame(payload):
    head = struct.pack("<Q", len(payload))
    return head + masked(head) + payload + masked(payload)


def field(number, payload):
    return bytes([number << 3 | 2, len(payload)]) + payload


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def scalar_file(tags, steps):
    """The value of a point is its step."""
    out = [frame(b"\x09" + struct.pack("<d", 1.7e9) + field(3, b"brain.Event:2"))]
    for step in range(steps):
        for tag in tags:
            value = field(1, tag.encode()) + b"\x15" + struct.pack("<f", step)
            out.append(frame(b"\x09" + struct.pack("<d", 1.7e9 + step) + b"\x10" + varint(step) + field(5, field(1, value))))
    return b"".join(out)


def event_file(points):
    return scalar_file(["loss"], points)
