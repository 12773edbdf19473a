"""A profiler server as TensorFlow and JAX run one, whose answers a test decides: grpcio speaks, no protobuf classes."""

import contextlib
import socket
import threading
from concurrent import futures

import grpc


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """A varint or length-delimited field of a protobuf message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(message):
    """The last value of each field, sub-messages as bytes."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = number()
        if key & 7 == 2:
            size = number()
            found[key >> 3] = message[at:at + size]
            at += size
        else:
            found[key >> 3] = number()
    return found


def xspace(name=b"/host:CPU"):
    """One plane, one line, one event of a millisecond."""
    event = field(1, 1) + field(2, 0) + field(3, 10**9)
    line = field(1, 1) + field(2, b"main") + field(3, 1000) + field(4, event)
    metadata = field(1, 1) + field(2, field(1, 1) + field(2, b"train_step"))
    return field(1, field(2, name) + field(3, line) + field(4, metadata))


def answer(space=None):
    return field(8, space if space is not None else xspace())


EMPTY = field(7, 1)


class Profiler:
    """`replies` are given one after another, the last for ever: bytes, or a function of (request, context)."""

    def __init__(self, *replies):
        self.replies = list(replies) or [answer()]
        self.requests, self.terminated = [], threading.Event()
        self.lock = threading.Lock()

    def profile(self, request, context):
        with self.lock:
            self.requests.append(fields(request))
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply(request, context) if callable(reply) else reply

    def terminate(self, request, context):
        self.terminated.set()
        return b""


class Service(grpc.GenericRpcHandler):
    def __init__(self, profiler):
        self.methods = {"/tensorflow.ProfilerService/Profile": profiler.profile,
                        "/tensorflow.ProfilerService/Terminate": profiler.terminate}

    def service(self, details):
        method = self.methods.get(details.method)
        return method and grpc.unary_unary_rpc_method_handler(method)


@contextlib.contextmanager
def profiler_server(*replies):
    profiler = Profiler(*replies)
    server = grpc.server(futures.ThreadPoolExecutor(4), options=[("grpc.max_send_message_length", -1)])
    server.add_generic_rpc_handlers((Service(profiler),))
    profiler.address = f"localhost:{server.add_insecure_port('localhost:0')}"
    server.start()
    try:
        yield profiler
    finally:
        server.stop(None).wait()


@contextlib.contextmanager
def raw_server(said):
    """Says these bytes to whoever connects, then nothing, and keeps the connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        open_ones = []

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    open_ones.append(connection)
                    connection.sendall(said)

        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            for connection in open_ones:
                connection.close()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
