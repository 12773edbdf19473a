"""What Sonde writes is read back with equal values by TensorBoard's reader and by Sonde's own."""

import io

import numpy as np
import pytest
from tensorboard.backend.event_processing import plugin_event_multiplexer
from tensorboard.util import tensor_util

import sonde
import sonde.summary
from events import files, read


def by_tensorboard(folder):
    multiplexer = plugin_event_multiplexer.EventMultiplexer(
        tensor_size_guidance={"scalars": 0, "tensors": 0, "images": 0}
    )
    multiplexer.AddRunsFromDirectory(str(folder))
    multiplexer.Reload()
    return multiplexer


def tensors(multiplexer, run, tag):
    return [(e.step, tensor_util.make_ndarray(e.tensor_proto)) for e in multiplexer.Tensors(run, tag)]


def test_scalars_are_equal_everywhere(tmp_path):
    rng = np.random.RandomState(1)
    values = np.concatenate([rng.randn(500), [0.0, -0.0, 1e300, 1e-310, np.nan, np.inf, -np.inf, 1 / 3, 2**53]])
    steps = rng.randint(-(2**62), 2**62, len(values))
    with sonde.Writer(str(tmp_path)) as log:
        for step, value in zip(steps, values):
            assert log.scalar("x", float(value), int(step))
    ours = sonde.load(tmp_path, all_points=True)[".", "x"]
    assert ours.values.dtype == np.float64
    assert np.array_equal(ours.values, values, equal_nan=True) and np.array_equal(ours.steps, steps)
    theirs = tensors(by_tensorboard(tmp_path), ".", "x")
    assert [s for s, _ in theirs] == steps.tolist()
    assert np.array_equal(np.array([v for _, v in theirs]), values.astype(np.float32), equal_nan=True)


def test_float32_values_stay_small_on_disk(tmp_path):
    with sonde.Writer(str(tmp_path)) as log:
        for step in range(100):
            log.scalar("x", 0.5, step)
    (path,) = files(tmp_path)["."]
    assert all(e.summary.value[0].HasField("simple_value") for e in list(read(path))[1:])


def test_everything_else(tmp_path):
    rng = np.random.RandomState(2)
    picture = rng.randint(0, 255, (2, 9, 7, 3)).astype(np.uint8)
    data = rng.randn(1000)
    sound = rng.uniform(-1, 1, (1, 200, 2)).astype(np.float32)
    with sonde.summary.create_file_writer(tmp_path).as_default(step=4):
        sonde.summary.histogram("h", data, buckets=20)
        sonde.summary.image("i", picture)
        sonde.summary.audio("a", sound, 8000)
        sonde.summary.text("t", [["a", "\xe9"], ["<b>", ""]])
        sonde.summary.write("w", np.arange(6).reshape(2, 3))
        sonde.summary.mesh("m", rng.rand(1, 3, 3), faces=np.array([[[0, 1, 2]]]))
        sonde.summary.pr_curve("p", np.array([0, 1, 1]), np.array([0.1, 0.8, 0.6]), num_thresholds=11)
    log, tb = sonde.load(tmp_path), by_tensorboard(tmp_path)

    (_, theirs), ours = tensors(tb, ".", "h")[0], log[".", "h"].values[0]
    assert np.array_equal(ours, theirs)
    counts, edges = np.histogram(data, 20)
    assert ours[:, 2].sum() == 1000 and np.allclose(ours[:, 0], edges[:-1]) and np.array_equal(ours[:, 2], counts)

    from PIL import Image

    for cells in (log[".", "i"].values[0], tensors(tb, ".", "i")[0][1].tolist()):
        assert cells[:2] == [b"7", b"9"]
        assert all(
            np.array_equal(np.asarray(Image.open(io.BytesIO(png))), pixels) for png, pixels in zip(cells[2:], picture)
        )

    import wave

    with wave.open(io.BytesIO(log[".", "a"].values[0][0])) as clip:
        assert (clip.getnchannels(), clip.getframerate(), clip.getnframes()) == (2, 8000, 200)
        levels = np.frombuffer(clip.readframes(200), "<i2").reshape(200, 2)
    assert np.array_equal(levels, np.clip(np.round(sound[0].astype(float) * 32768), -32768, 32767))

    assert log[".", "t"].texts() == [["a", "\xe9", "<b>", ""]]
    assert log[".", "w"].plugin == "" and tb.SummaryMetadata(".", "m_VERTEX").plugin_data.plugin_name == "mesh"
    curve = tensors(tb, ".", "p")[0][1]
    assert curve.shape == (6, 11) and curve[0].tolist()[:2] == [2.0, 2.0]
    assert np.array_equal(log[".", "p"].values[0], curve)


def test_nan_in_a_histogram_does_not_lose_it(tmp_path):
    with sonde.summary.create_file_writer(tmp_path).as_default(step=0):
        sonde.summary.histogram("h", [1.0, 2.0, np.nan, np.inf, -np.inf, np.nan], buckets=2)
    rows = sonde.load(tmp_path)[".", "h"].values[0]
    assert rows.tolist() == [[1, 1.5, 1], [1.5, 2, 1]]
    (path,) = files(tmp_path)["."]
    record = list(read(path))[1].summary.value[0].metadata.SerializeToString()
    assert record.endswith(b"\xca\x3e\x06\x08\x02\x10\x01\x18\x01")  # field 1001: 2 NaN, 1 +inf, 1 -inf


def test_gif_frames_are_the_frames(tmp_path):
    from PIL import Image, ImageSequence

    rng = np.random.RandomState(3)
    few = (rng.rand(5, 12, 10, 1) > 0.5).astype(np.uint8).repeat(3, axis=3) * np.array([200, 90, 30], np.uint8)
    gif = sonde._sonde.gif(few, 10.0)
    frames = [np.asarray(f.convert("RGB")) for f in ImageSequence.Iterator(Image.open(io.BytesIO(gif)))]
    assert len(frames) == 5 and all(np.array_equal(a, b) for a, b in zip(frames, few))
    many = rng.randint(0, 255, (3, 64, 80, 3)).astype(np.uint8)  # more colours than a GIF holds, and long LZW codes
    frames = [
        np.asarray(f.convert("RGB")).astype(int)
        for f in ImageSequence.Iterator(Image.open(io.BytesIO(sonde._sonde.gif(many, 5.0))))
    ]
    assert len(frames) == 3 and all(np.abs(a - b).mean() < 25 for a, b in zip(frames, many))


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 2), (17, 2, 3), (40, 300, 4)])
def test_png_is_lossless(shape):
    from PIL import Image

    rng = np.random.RandomState(4)
    for pixels in (
        rng.randint(0, 255, shape),
        np.add.outer(np.arange(shape[0]), np.arange(shape[1]))[:, :, None].repeat(shape[2], 2) % 256,
        np.zeros(shape),
    ):
        pixels = np.ascontiguousarray(pixels.astype(np.uint8))
        assert np.array_equal(np.asarray(Image.open(io.BytesIO(sonde._sonde.png(pixels)))).reshape(shape), pixels)


def test_histograms_equal_numpy_on_a_million(tmp_path):
    rng = np.random.RandomState(5)
    for data in (rng.randn(1_000_000).astype(np.float32), rng.randint(-1000, 1000, 300_000), rng.rand(100_000)):
        with sonde.SummaryWriter(tmp_path / str(data.dtype)) as w:
            w.add_histogram("h", data, 1)
        (path,) = files(tmp_path / str(data.dtype))["."]
        histo = list(read(path))[1].summary.value[0].histo
        counts, edges = np.histogram(data.astype(float), w.default_bins)
        first = np.flatnonzero(counts)[0]
        last = np.flatnonzero(counts)[-1]
        assert list(histo.bucket) == [0, *counts[first : last + 1]]
        assert list(histo.bucket_limit) == edges[first : last + 2].tolist()
        assert np.isclose(histo.sum, data.astype(float).sum()) and histo.num == data.size
