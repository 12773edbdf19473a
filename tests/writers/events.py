"""Event files read with TensorBoard's own protobuf classes, and made comparable: no times, no compressor's choices."""

import io
import math
import operator
import struct
from pathlib import Path

from tensorboard.compat.proto import event_pb2, types_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.util import tensor_util


def read(path):
    """Every event of a file; a damaged or torn record ends it."""
    reader = PyRecordReader_New(str(path))
    while True:
        try:
            reader.GetNext()
        except Exception:
            return
        yield event_pb2.Event.FromString(reader.record())


def files(folder):
    """Event files by run, the wall clock and process taken out of their names."""
    out = {}
    for path in sorted(Path(folder).rglob("*tfevents*")):
        out.setdefault(str(path.parent.relative_to(folder)), []).append(path)
    return out


def pixels(encoded):
    from PIL import Image, ImageSequence

    picture = Image.open(io.BytesIO(encoded))
    if picture.format == "GIF":
        return ("GIF", [frame.size for frame in ImageSequence.Iterator(picture)])
    return picture.format, picture.mode, picture.size, picture.tobytes()


def _value(value):
    kind = value.WhichOneof("value")
    plugin = value.metadata.plugin_data.plugin_name
    content = value.metadata.plugin_data.content
    if plugin == "hparams":  # a protobuf map has no order
        content = plugin_data_pb2.HParamsPluginData.FromString(content)
    about = (
        plugin,
        content,
        value.metadata.display_name,
        value.metadata.summary_description,
        value.metadata.data_class,
    )
    if kind == "image":
        i = value.image
        data = (i.height, i.width, i.colorspace, pixels(i.encoded_image_string))
    elif kind == "histo":
        h = value.histo
        data = (h.min, h.max, h.num, round(h.sum, 9), round(h.sum_squares, 6), list(h.bucket_limit), list(h.bucket))
    elif kind == "tensor" and plugin == "images":
        cells = list(value.tensor.string_val)
        data = (cells[:2], [pixels(c) for c in cells[2:]], [d.size for d in value.tensor.tensor_shape.dim])
    elif kind == "tensor" and plugin == "histograms":
        data = (
            value.tensor.dtype,
            [[round(x, 12) for x in row] for row in tensor_util.make_ndarray(value.tensor).tolist()],
        )
    elif kind == "tensor" and value.tensor.dtype == types_pb2.DT_UINT8 and plugin == "tensor":
        # torch puts bytes into uint32_val, where no reader looks for them; Sonde into int_val.
        data = (value.tensor.tensor_shape, list(value.tensor.int_val) or list(value.tensor.uint32_val))
    elif kind is not None:
        data = getattr(value, kind)
    else:
        data = None
    return value.tag, kind, about, data


def comparable(event):
    what = event.WhichOneof("what")
    if what == "summary":
        content = [_value(v) for v in event.summary.value]
    elif what is None:
        content = None
    else:
        content = getattr(event, what)
    return event.step, what, content, event.source_metadata.writer


def near(one, other):
    """Equal but for what a processor adds to trained numbers."""
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(near, one, other))
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-6)
    if getattr(one, "dtype", None) == 1 and one.tensor_content:  # DT_FLOAT
        mine, theirs = ([x for (x,) in struct.iter_unpack("<f", side.tensor_content)] for side in (one, other))
        return one.tensor_shape == other.tensor_shape and near(mine, theirs)
    return one == other


def assert_same(ours, original, ignore=(), same=operator.eq):
    """Same runs, and in each run the same events in the same order. Returns how many were compared."""
    mine, theirs = files(ours), files(original)
    assert sorted(mine) == sorted(theirs)
    compared = 0
    for run, paths in theirs.items():
        got = [comparable(e) for path in mine[run] for e in read(path)]
        want = [comparable(e) for path in paths for e in read(path)]
        got, want = (
            [e for e in side if not (e[2] and isinstance(e[2], list) and e[2][0][0] in ignore)] for side in (got, want)
        )
        assert [e[:2] for e in got] == [e[:2] for e in want]
        for one, other in zip(got, want):
            assert same(one, other), (one, other)
            compared += 1
    return compared


def assert_same_files(ours, original, names):
    for name in names:
        assert (Path(ours) / name).read_bytes() == (Path(original) / name).read_bytes(), name
