"""Percentiles, bins and sums of `POST histograms` against a plain recomputation from the events in the files."""

import json
import math
import struct

import numpy as np
import pytest
from server import ROOT, running, until
from tensorboard.compat.proto import event_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New
from tensorboard.util import tensor_util

CORPUS = ROOT / "tests/data/corpus"
SHARES = [0, 0.0668, 0.1587, 0.3085, 0.5, 0.6915, 0.8413, 0.9332, 1]
BINS = 37
TYPES = {"f32": np.float32, "f64": np.float64, "u32": np.uint32}


def rows_of(value):
    """A value's (left, right, count) rows; None when it is no histogram."""
    if value.WhichOneof("value") == "histo":
        histo = value.histo
        full = [i for i, count in enumerate(histo.bucket) if count != 0]
        if not full:
            return []
        first, last = full[0], full[-1]
        return [(histo.min if i == first else histo.bucket_limit[i - 1], histo.max if i == last else histo.bucket_limit[i], histo.bucket[i])
                for i in range(first, last + 1)]
    if value.WhichOneof("value") == "tensor" and len(value.tensor.tensor_shape.dim) == 2 and value.tensor.tensor_shape.dim[1].size == 3:
        return [tuple(row) for row in tensor_util.make_ndarray(value.tensor).astype(float)]
    return None


def written(folder):
    """{(run, tag): {step: rows}} of every histogram in the files."""
    out, plugins = {}, {}
    for path in sorted(folder.rglob("*tfevents*")):
        reader = PyRecordReader_New(str(path))
        while True:
            try:
                reader.GetNext()
            except Exception:
                break
            event = event_pb2.Event.FromString(reader.record())
            for value in event.summary.value:
                key = str(path.parent.relative_to(folder)), value.tag
                plugin = plugins.setdefault(key, value.metadata.plugin_data.plugin_name)
                rows = rows_of(value)
                if rows is not None and (plugin == "histograms" or value.HasField("histo")):
                    out.setdefault(key, {})[event.step] = rows
    return out


def percentile(rows, share):
    below, wanted = 0.0, share * sum(count for _, _, count in rows)
    for left, right, count in rows:
        if count > 0 and wanted < below + count:
            return left + (right - left) * (wanted - below) / count
        below += count
    return rows[-1][1]


def spread(rows, low, high):
    counts, width = np.zeros(BINS), (high - low) / BINS
    for left, right, count in rows:
        if right <= left:
            counts[min(BINS - 1, int((left - low) / width))] += count
            continue
        for i in range(BINS):
            overlap = min(right, low + width * (i + 1)) - max(left, low + width * i)
            counts[i] += count * max(0.0, overlap) / (right - left)
    return counts


def ask(server, run, tag):
    reply = server.ask("/api/v1/histograms", "POST", {"Content-Type": "application/json"}, json.dumps({"run": run, "tag": tag, "bins": BINS}).encode())
    assert reply.status == 200, reply.text
    (size,) = struct.unpack_from("<I", reply.body, 4)
    head = json.loads(reply.body[8:8 + size])
    return {name: np.frombuffer(reply.body, TYPES[at["t"]], at["n"], 8 + size + at["o"]) for name, at in head["cols"].items()}


@pytest.mark.parametrize("name", ["tf2_histograms", "torch_all", "tbx_all", "keras_fit", "v1_compat"])
def test_percentiles_and_bins_equal_the_events(name):
    expected = written(CORPUS / name)
    assert expected
    with running(logdir=CORPUS / name) as server:
        until(lambda: "partial" not in json.loads(server.ask("/api/v1/info").body))
        for (run, tag), steps in expected.items():
            got = ask(server, run, tag)
            assert list(got["step"]) == sorted(steps), tag
            ends = [edge for rows in steps.values() for left, right, _ in rows for edge in (left, right)]
            for i, step in enumerate(sorted(steps)):
                rows = steps[step]
                percentiles = got["pct"][i * 9:i * 9 + 9]
                counts = got["count"][i * BINS:(i + 1) * BINS]
                total = sum(count for _, _, count in rows)
                if not total > 0:
                    assert np.isnan(percentiles).all() and not counts.any()
                    continue
                scale = max(map(abs, ends))
                assert percentiles == pytest.approx([percentile(rows, share) for share in SHARES], rel=1e-5, abs=1e-6 * scale), (run, tag, step)
                low, high = got["edges"][0], got["edges"][-1]
                if min(ends) < max(ends):
                    assert (low, high) == (min(ends), max(ends))
                assert counts == pytest.approx(spread(rows, low, high), rel=1e-4, abs=1e-4 * total), (run, tag, step)
                assert math.isclose(counts.sum(), total, rel_tol=1e-4)
                assert got["stats"][i * 6 + 2] == total
