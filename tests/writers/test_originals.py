"""Everything Sonde can write, read by TensorBoard's data provider and plug-ins (and TensorFlow's reader where there is one):
the same runs, tags, metadata, steps and values as sonde.load gives."""

import numpy as np
import pytest
from tensorboard import context
from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.custom_scalar import metadata as custom_scalars_metadata
from tensorboard.plugins.hparams import metadata as hparams_metadata
from tensorboard.plugins.mesh import metadata as mesh_metadata
from tensorboard.plugins.pr_curve import metadata as pr_metadata
from tensorboard.plugins.projector import projector_config_pb2
from tensorboard.util import tensor_util

import calls
import sonde
import sonde.hparams
import sonde.summary
from events import files


def torch_style(folder):
    calls.torch_writer(sonde.SummaryWriter, folder, lambda a: a)
    with sonde.SummaryWriter(folder) as w:
        w.add_video("video", np.random.RandomState(1).randint(0, 2, (1, 3, 3, 4, 5)).astype(np.uint8) * 255, 1)
        w.file_writer.add_graph((b"\n\x08\n\x01a\x12\x03Abc", b""))  # one node a of the operation Abc


def tf_style(folder):
    calls.tf_summary(sonde.summary, folder, None)
    calls.hparams(sonde.hparams, sonde.summary, folder + "/trials", None)
    rng = np.random.RandomState(2)
    with sonde.summary.create_file_writer(folder + "/more").as_default(step=4):
        sonde.summary.mesh("m", rng.rand(1, 3, 3), faces=np.array([[[0, 1, 2]]]))
        sonde.summary.pr_curve("p", np.array([0, 1, 1]), np.array([0.1, 0.8, 0.6]), num_thresholds=11)


@pytest.fixture(scope="module", params=[torch_style, tf_style, "demo"], ids=["torch_style", "tf_style", "demo"])
def written(request, tmp_path_factory):
    if request.param == "demo":  # logged by the C++ library
        return request.getfixturevalue("demo")
    folder = tmp_path_factory.mktemp(request.param.__name__)
    request.param(str(folder))
    return folder


def open_with_tensorboard(folder):
    multiplexer = plugin_event_multiplexer.EventMultiplexer(size_guidance={"tensors": 0})
    multiplexer.AddRunsFromDirectory(str(folder))
    multiplexer.Reload()
    return data_provider.MultiplexerDataProvider(multiplexer, str(folder))


def plugins_of(log):
    return sorted({series.plugin for series in log.values()})


def blobs(provider, rows):
    return [
        [provider.read_blob(context.RequestContext(), blob_key=one.blob_key) for one in datum.values] for datum in rows
    ]


def test_data_provider(written):
    log, provider, ctx = sonde.load(written), open_with_tensorboard(written), context.RequestContext()
    everything = {"experiment_id": "", "downsample": 10**9}
    seen = set()
    for plugin in plugins_of(log):
        if not plugin:
            continue  # TensorBoard lists tags by plug-in only
        scalars = provider.read_scalars(ctx, plugin_name=plugin, **everything)
        tensors = provider.read_tensors(ctx, plugin_name=plugin, **everything)
        sequences = provider.read_blob_sequences(ctx, plugin_name=plugin, **everything)
        about = [
            provider.list_scalars(ctx, experiment_id="", plugin_name=plugin),
            provider.list_tensors(ctx, experiment_id="", plugin_name=plugin),
            provider.list_blob_sequences(ctx, experiment_id="", plugin_name=plugin),
        ]
        for kind, found in enumerate((scalars, tensors, sequences)):
            for run, by_tag in found.items():
                for tag, rows in by_tag.items():
                    ours, metadata = log[run, tag], about[kind][run][tag]
                    seen.add((run, tag))
                    where = f"{plugin} {run} {tag}"
                    assert [row.step for row in rows] == ours.steps.tolist(), where
                    assert [row.wall_time for row in rows] == ours.wall_times.tolist(), where
                    assert (metadata.plugin_content, metadata.display_name, metadata.description) == (
                        ours.content,
                        ours.display_name,
                        ours.description,
                    ), where
                    if kind == 0:
                        values = np.array([row.value for row in rows])
                        wanted = (ours.values, ours.values.astype(np.float32))  # as written, or as TensorBoard rounds
                        assert any(np.array_equal(values, w, equal_nan=True) for w in wanted), where
                    elif kind == 1:
                        for row, value in zip(rows, ours.values, strict=True):
                            same_tensor(row.numpy, value, where)
                    else:
                        assert blobs(provider, rows) == [list(value) for value in ours.values], where
    for (run, tag), series in log.items():
        if (run, tag) not in seen:  # tensors of no dashboard, which TensorBoard keeps without listing them
            assert series.plugin in ("", "tensor"), (run, tag)
            rows = provider._multiplexer.Tensors(run, tag)
            assert [row.step for row in rows] == series.steps.tolist()
            for row, value in zip(rows, series.values, strict=True):
                same_tensor(tensor_util.make_ndarray(row.tensor_proto), value, tag)
    assert len(seen) > 30


def same_tensor(theirs, ours, where):
    if isinstance(ours, np.ndarray):  # TensorBoard rounds the histograms of torch to float32
        ours = ours.astype(theirs.dtype)
        assert theirs.shape == ours.shape and np.array_equal(theirs, ours, equal_nan=theirs.dtype.kind == "f"), where
    else:
        assert [x if isinstance(x, bytes) else x.encode() for x in theirs.ravel().tolist()] == list(ours), where


def test_metadata_is_what_the_plugins_parse(written):
    log = sonde.load(written)
    parse = {
        "hparams": lambda s: (
            hparams_metadata.parse_experiment_plugin_data(s.content)
            if s.tag.endswith("/experiment")
            else hparams_metadata._parse_plugin_data_as(s.content, s.tag.removeprefix("_hparams_/"))
        ),
        "mesh": lambda s: mesh_metadata.parse_plugin_metadata(s.content),
        "pr_curves": lambda s: pr_metadata.parse_plugin_metadata(s.content),
        "custom_scalars": lambda s: layout_pb2.Layout.FromString(s.values[0][0]),
    }
    parsed = 0
    for series in log.values():
        if series.plugin not in parse:
            continue
        made = parse[series.plugin](series)
        parsed += 1
        if series.plugin == "mesh":
            vertices = log[series.run, f"{made.name}_VERTEX"]
            assert list(made.shape)[-1] == 3 and len(vertices) == len(series)
        if series.plugin == "pr_curves":
            assert series.values[0].shape == (6, made.num_thresholds)
        if series.plugin == "custom_scalars":
            assert series.tag == custom_scalars_metadata.CONFIG_SUMMARY_TAG and made.category
    assert parsed >= 3


def test_projector_config(written):
    from google.protobuf import text_format

    for path in written.rglob("projector_config.pbtxt"):
        config = text_format.Parse(path.read_text(), projector_config_pb2.ProjectorConfig())
        for one in config.embeddings:
            vectors = np.loadtxt(path.parent / one.tensor_path, delimiter="\t", ndmin=2)
            labels = (path.parent / one.metadata_path).read_text().rstrip("\n").split("\n")
            assert len(labels) - ("\t" in labels[0]) == len(vectors)
            if one.HasField("sprite"):
                from PIL import Image

                sprite, side = Image.open(path.parent / one.sprite.image_path), int(np.ceil(np.sqrt(len(vectors))))
                assert sprite.size == tuple(side * d for d in one.sprite.single_image_dim)


def test_tensorflow_reads_the_same_records(written):
    tf = pytest.importorskip("tensorflow")
    for paths in files(written).values():
        for path in paths:
            reader, ours = PyRecordReader_New(str(path)), []
            while True:
                try:
                    reader.GetNext()
                except Exception:
                    break
                ours.append(bytes(reader.record()))
            theirs = [record.numpy() for record in tf.data.TFRecordDataset(str(path))]
            assert theirs == ours and theirs
            for event in tf.compat.v1.train.summary_iterator(str(path)):
                for value in event.summary.value:
                    if value.HasField("tensor"):
                        assert np.array_equal(tf.make_ndarray(value.tensor), tensor_util.make_ndarray(value.tensor))
