"""Summaries in the form torch.utils.tensorboard writes them; one function a kind of data."""

from __future__ import annotations

import struct
from typing import Any

from . import _sonde
from ._arrays import make_np, native
from ._wire import Message, Summary, metadata, shape, strings, summary, value


def scalar(tag: str | None, number: float, new_style: bool = False, double_precision: bool = False) -> Summary:
    if not new_style:
        return summary(Message().text(1, tag).float(2, _float32(number)))
    tensor = Message().varint(1, 2 if double_precision else 1)
    tensor.bytes(6, struct.pack("<d", number)) if double_precision else tensor.bytes(
        5, struct.pack("<f", _float32(number))
    )
    return summary(value(tag, tensor=tensor, metadata=metadata("scalars")))


def _float32(number: float) -> float:
    try:
        struct.pack("<f", number)
        return number
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


_FLOATS = {"float16": (19, 13), "bfloat16": (14, 13), "float32": (1, 5), "float64": (2, 6)}
_INTS = {"uint8": (4, 7), "int8": (6, 7), "int16": (5, 7), "int32": (3, 7), "int64": (9, 10), "bool": (10, 11)}


def tensor(tag: str | None, data: Any) -> Summary:
    """Any shape, in the typed field of its dtype; shown by no dashboard of TensorBoard."""
    import numpy as np

    kind = str(data.dtype).removeprefix("torch.")
    if kind == "bfloat16":
        import torch

        array = data.detach().cpu().view(torch.int16).numpy().view(np.uint16)
    else:
        array = make_np(data)
    if array.nbytes >= 1 << 31:
        raise ValueError("tensor is bigger than protocol buffer's hard limit of 2GB in size")
    proto = Message()
    if kind in _FLOATS:
        dtype, field = _FLOATS[kind]
        proto.varint(1, dtype).bytes(2, shape(array.shape))
        if field == 13:
            proto.packed(13, map(int, array.view(np.uint16).ravel()))
        else:
            proto.bytes(field, native(array).tobytes())
    elif kind in _INTS:
        dtype, field = _INTS[kind]
        proto.varint(1, dtype).bytes(2, shape(array.shape)).packed(field, map(int, array.ravel()))
    elif kind in ("complex64", "complex128"):
        dtype, field = (8, 9) if kind == "complex64" else (18, 12)
        proto.varint(1, dtype).bytes(2, shape(array.shape)).bytes(field, native(array).tobytes())
    else:
        raise ValueError(f"{tag} has unsupported tensor dtype {data.dtype}")
    return summary(value(tag, tensor=proto, metadata=metadata("tensor")))


def histogram(tag: str | None, values: Any, bins: Any, max_bins: int | None = None) -> Summary:
    """`bins` is None for torch's growing buckets, else whatever numpy.histogram takes."""
    import numpy as np

    array = make_np(values)
    if array.size == 0:
        raise ValueError("The input has no element.")
    if array.dtype.kind not in "fiub" or array.dtype.name == "float128":
        array = array.astype(float)
    edges = None
    if bins is not None:
        edges = (
            np.histogram_bin_edges(array.astype(float), bins=bins).astype(float)
            if np.ndim(bins) == 0
            else np.asarray(bins, float)
        )
    proto = _sonde.histo(native(array), edges, max_bins)
    if proto is None:
        raise ValueError("The histogram is empty, please file a bug report.")
    return summary(value(tag, histo=proto))


def histogram_raw(
    tag: str | None,
    min: float,
    max: float,
    num: float,
    sum: float,
    sum_squares: float,
    bucket_limits: Any,
    bucket_counts: Any,
) -> Summary:
    proto = (
        Message()
        .number(1, float(min))
        .number(2, float(max))
        .number(3, float(num))
        .number(4, float(sum))
        .number(5, float(sum_squares))
    )
    for field, column in ((6, bucket_limits), (7, bucket_counts)):
        numbers = [float(x) for x in column]
        if numbers:
            proto.bytes(field, struct.pack(f"<{len(numbers)}d", *numbers))
    return summary(value(tag, histo=proto))


def image_proto(height: int, width: int, channels: int, encoded: bytes) -> Message:
    return Message().varint(1, height).varint(2, width).varint(3, channels).bytes(4, encoded)


def to_hwc(array: Any, dataformats: str) -> Any:
    """Any permutation of HW, HWC, CHW or NCHW as [h, w, c]; a batch becomes a grid, grey becomes RGB."""
    import numpy as np

    if len(set(dataformats)) != len(dataformats):
        raise AssertionError(
            f"You can not use the same dimension shorthand twice.             input_format: {dataformats}"
        )
    if array.ndim != len(dataformats):
        raise AssertionError(
            f"size of input tensor and input format are different.         tensor shape: {array.shape}, input_format: {dataformats}"
        )
    order = dataformats.upper()
    if len(order) == 4:
        return grid(array.transpose([order.find(c) for c in "NCHW"])).transpose(1, 2, 0)
    if len(order) == 2:
        array = array.transpose([order.find(c) for c in "HW"])[:, :, None]
    else:
        array = array.transpose([order.find(c) for c in "HWC"])
    return np.repeat(array, 3, axis=2) if array.shape[2] == 1 else array


def grid(batch: Any, columns: int = 8) -> Any:
    """[n, c, h, w] as one [3, rows * h, columns * w] picture, row by row, black where there is none."""
    import numpy as np

    if batch.shape[1] == 1:
        batch = np.repeat(batch, 3, axis=1)
    if batch.ndim != 4 or batch.shape[1] != 3:
        raise AssertionError("Input should be a 4D numpy array with 3 channels")
    n, _, h, w = batch.shape
    columns = min(n, columns)
    rows = -(-n // columns)
    out = np.zeros((3, rows * h, columns * w), dtype=batch.dtype)
    for i in range(n):
        y, x = i // columns * h, i % columns * w
        out[:, y : y + h, x : x + w] = batch[i]
    return out


def image(
    tag: str | None, data: Any, dataformats: str, rescale: float = 1, boxes: Any = None, labels: Any = None
) -> Summary:
    pixels = to_hwc(make_np(data), dataformats)
    height, width, channels = pixels.shape
    if rescale == 1 and boxes is None:
        encoded = _sonde.png(native(pixels), True)
    else:
        encoded = _boxed_png(pixels, rescale, boxes, labels)
    return summary(value(tag, image=image_proto(height, width, channels, encoded)))


def _boxed_png(pixels: Any, rescale: float, boxes: Any, labels: Any) -> bytes:
    """Red frames two pixels wide, each with its label on red at the lower left corner."""
    import math

    import numpy as np
    from PIL import Image, ImageDraw, ImageFont

    factor = 1 if pixels.dtype == np.uint8 else 255
    picture = Image.fromarray((pixels.astype(np.float32) * factor).clip(0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default()
    for i, (left, top, right, bottom) in enumerate([] if boxes is None else make_np(boxes)):
        draw.line([(left, top), (left, bottom), (right, bottom), (right, top), (left, top)], width=2, fill="Red")
        if labels is None or not labels[i]:
            continue
        x0, y0, x1, y1 = font.getbbox(labels[i])
        wide, high = x1 - x0, y1 - y0
        margin = math.ceil(0.05 * high)
        draw.rectangle([(left, bottom - high - 2 * margin), (left + wide, bottom)], fill="Red")
        draw.text((left + margin, bottom - high - margin), labels[i], fill="black", font=font)
    size = (int(pixels.shape[1] * rescale), int(pixels.shape[0] * rescale))
    picture = picture.resize(size, Image.Resampling.LANCZOS)
    return _sonde.png(native(np.asarray(picture)))


def figure_pixels(figure: Any, close: bool) -> Any:
    """A Matplotlib figure as [h, w, 3] bytes."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
    if close:
        import matplotlib.pyplot as plt

        plt.close(figure)
    return pixels


def film(batch: Any) -> Any:
    """[n, t, c, h, w] as [t, rows * h, columns * w, c]: the clips side by side in a grid of powers of two."""
    import numpy as np

    n, t, c, h, w = batch.shape
    padded = n if n & (n - 1) == 0 else 1 << n.bit_length()
    if padded != n:
        batch = np.concatenate([batch, np.zeros((padded - n, t, c, h, w), batch.dtype)])
    rows = 1 << ((n.bit_length() - 1) // 2)
    columns = padded // rows
    return batch.reshape(rows, columns, t, c, h, w).transpose(2, 0, 4, 1, 5, 3).reshape(t, rows * h, columns * w, c)


def video(tag: str | None, data: Any, fps: float) -> Summary:
    frames = film(make_np(data))
    _, height, width, channels = frames.shape
    return summary(value(tag, image=image_proto(height, width, channels, _sonde.gif(native(frames), fps, True))))


def audio(tag: str | None, data: Any, sample_rate: int, torch_scale: bool = True) -> Summary:
    clip = make_np(data).squeeze()
    if abs(clip).max() > 1:
        print("warning: audio amplitude out of range, auto clipped.")
        clip = clip.clip(-1, 1)
    if clip.ndim != 1:
        raise AssertionError("input tensor should be 1 dimensional.")
    proto = Message().float(1, sample_rate).varint(2, 1).varint(3, clip.shape[0])
    proto.bytes(4, _sonde.wav(native(clip), int(sample_rate), torch_scale)).text(5, "audio/wav")
    return summary(value(tag, audio=proto))


def text(tag: str, content: str) -> Summary:
    return summary(
        value(f"{tag}/text_summary", tensor=strings([content.encode("utf_8")], [1]), metadata=metadata("text"))
    )


def _pr_value(tag: str | None, rows: Any, num_thresholds: int) -> Summary:
    import numpy as np

    data = np.asarray(rows, np.float32)
    tensor = Message().varint(1, 1).bytes(2, shape(data.shape)).bytes(5, native(data).tobytes())
    content = bytes(Message().varint(2, num_thresholds))
    return summary(value(tag, tensor=tensor, metadata=metadata("pr_curves", content)))


def pr_curve(tag: str | None, labels: Any, predictions: Any, num_thresholds: int = 127, weights: Any = None) -> Summary:
    """Bucket floor(p (n - 1)); counts summed from the right; precision and recall guarded by 1e-7."""
    import numpy as np

    n = min(num_thresholds, 127)
    place = np.floor(predictions * (n - 1)).astype(np.int64).ravel()
    truth = labels.astype(np.float64).ravel()
    weight = np.broadcast_to(1.0 if weights is None else weights, labels.shape).ravel()
    inside = (place >= 0) & (place < n)
    place, truth, weight = place[inside], truth[inside], weight[inside]
    tp = np.bincount(place, truth * weight, n)[::-1].cumsum()[::-1]
    fp = np.bincount(place, (1 - truth) * weight, n)[::-1].cumsum()[::-1]
    tn, fn = fp[0] - fp, tp[0] - tp
    least = 1e-7
    return _pr_value(tag, [tp, fp, tn, fn, tp / np.maximum(least, tp + fp), tp / np.maximum(least, tp + fn)], n)


def pr_curve_raw(tag: str | None, rows: Any, num_thresholds: int = 127) -> Summary:
    import numpy as np

    return _pr_value(tag, np.stack([np.asarray(make_np(r)) for r in rows]), min(num_thresholds, 127))


def custom_scalars(layout: dict[str, dict[str, list[Any]]]) -> Summary:
    message = Message()
    for category, charts in layout.items():
        one = Message().text(1, category)
        for title, (kind, tags, *_) in charts.items():
            chart = Message().text(1, title)
            if kind == "Margin":
                if len(tags) != 3:
                    raise AssertionError("len(tags) != 3")
                series = Message().text(1, tags[0]).text(2, tags[1]).text(3, tags[2])
                chart.bytes(3, Message().bytes(1, series))
            else:
                lines = Message()
                for tag in tags:
                    lines.bytes(1, tag.encode())
                chart.bytes(2, lines)
            one.bytes(2, chart)
        message.bytes(2, one)
    tensor = strings([bytes(message)], [])
    return summary(value("custom_scalars__config__", tensor=tensor, metadata=metadata("custom_scalars")))


def mesh(
    tag: str, vertices: Any, colors: Any, faces: Any, config: dict[str, Any] | None, numbered: bool = False
) -> Summary:
    """The parts of a mesh. tensorboardX numbers its tags, writes a missing config as null and no component mask."""
    import json

    import numpy as np

    config_json = "{}" if config is None and not numbered else json.dumps(config, sort_keys=True)
    given = [(vertices, 1, "VERTEX"), (faces, 2, "FACE"), (colors, 3, "COLOR")]
    parts = [(make_np(data), kind, name) for data, kind, name in given if data is not None]
    for data, _, _ in parts:
        if data.ndim != 3:
            raise ValueError(f"Tensor shape should be of shape BxNx3, but got {data.shape}.")
    components = sum(1 << kind for _, kind, _ in parts)
    values = []
    for data, kind, name in parts:
        content = Message().text(2, tag).varint(3, kind).text(5, config_json).packed(6, data.shape)
        if not numbered:
            content.varint(7, components)
        tensor = (
            Message().varint(1, 1).bytes(2, shape(data.shape[:3])).bytes(5, native(data.astype(np.float32)).tobytes())
        )
        values.append(value(f"{tag}_{kind if numbered else name}", tensor=tensor, metadata=metadata("mesh", bytes(content))))
    return summary(*values)


def _hparam(value: Any) -> Message:
    if isinstance(value, bool):
        return Message().varint(4, int(value))
    return Message().bytes(3, value.encode()) if isinstance(value, str) else Message().double(2, value)


def hparams(
    hparam_dict: dict[str, Any] | None = None,
    metric_dict: dict[str, Any] | None = None,
    hparam_domain_discrete: dict[str, list[Any]] | None = None,
    real_bools: bool = False,
) -> tuple[Summary, Summary, Summary]:
    """Experiment, session start and session end. torch stores bools as numbers, tensorboardX as bools."""
    for argument, mapping in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
        if not isinstance(mapping, dict):
            raise TypeError(f"parameter: {argument} should be a dictionary, nothing logged.")
    values, metrics = dict(hparam_dict or {}), list(metric_dict or {})
    domains = hparam_domain_discrete or {}
    if not isinstance(domains, dict):
        raise TypeError("parameter: hparam_domain_discrete should be a dictionary, nothing logged.")
    for k, v in domains.items():
        if k not in values or not isinstance(v, list) or not all(isinstance(d, type(values[k])) for d in v):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{k}] should be a list of same type as hparam_dict[{k}]."
            )
    start, experiment = Message(), Message()
    for name, given in values.items():
        if given is None:
            continue
        if isinstance(given, str):
            kind = 1
        elif isinstance(given, bool) and real_bools:
            kind = 2
        elif isinstance(given, (int, float)):
            kind, given = 3, float(given)
        elif hasattr(given, "dtype"):
            kind, given = 3, float(make_np(given).ravel()[0])
        elif real_bools and callable(given):
            kind, given = 1, getattr(given, "__name__", str(given))
        elif real_bools:  # tensorboardX: named, without a value
            experiment.bytes(4, Message().text(1, name))
            continue
        else:
            raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        start.bytes(1, Message().text(1, name).bytes(2, _hparam(given)))
        info = Message().text(1, name).varint(4, kind)
        if name in domains:
            choices = Message()
            for one in domains[name]:
                choices.bytes(1, _hparam(one if kind != 3 else float(one)))
            info.bytes(5, choices)
        experiment.bytes(4, info)
    for name in metrics:
        experiment.bytes(5, Message().bytes(1, Message().text(2, name)))
    end = Message().varint(1, 1)
    return tuple(  # type: ignore[return-value]
        summary(value(f"_hparams_/{tag}", metadata=metadata("hparams", bytes(Message().bytes(field, content)))))
        for tag, field, content in (
            ("experiment", 2, experiment),
            ("session_start_info", 3, start),
            ("session_end_info", 4, end),
        )
    )
