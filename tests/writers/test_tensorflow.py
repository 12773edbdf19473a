"""TensorFlow's own record reader and data types read what Sonde writes; profile_batch and traces work with it."""

import numpy as np
import pytest

import sonde
from events import files
from sonde import summary

tf = pytest.importorskip("tensorflow")


def test_record_reader(tmp_path):
    with sonde.SummaryWriter(tmp_path) as w:
        for i in range(1000):
            w.add_scalar("loss", i * 0.5, i)
        w.add_histogram("h", np.arange(10), 5)
    (path,) = files(tmp_path)["."]
    events = [tf.compat.v1.Event.FromString(r.numpy()) for r in tf.data.TFRecordDataset(str(path))]
    assert len(events) == 1002 and [e.summary.value[0].simple_value for e in events[1:-1]] == [
        i * 0.5 for i in range(1000)
    ]
    assert len(list(tf.compat.v1.train.summary_iterator(str(path)))) == 1002


def test_tensors_and_variables(tmp_path):
    with summary.create_file_writer(tmp_path).as_default(step=tf.Variable(4, dtype=tf.int64)):
        summary.scalar("a", tf.constant(1.5))
        summary.histogram("h", tf.range(10))
        summary.image("i", tf.zeros([1, 2, 2, 3]))
        summary.text("t", tf.constant(["a", "b"]))
        summary.write("w", tf.constant([1, 2]))
        summary.graph(tf.function(lambda x: x + 1).get_concrete_function(tf.constant(1.0)).graph)
    log = sonde.load(tmp_path)
    assert log[".", "a"].steps.tolist() == [4] and log[".", "t"].texts() == [["a", "b"]]
    assert log[".", "__run_graph__"].plugin == "graphs"


def test_trace(tmp_path):
    @tf.function
    def twice(x):
        return x * 2

    with summary.create_file_writer(tmp_path).as_default():
        summary.trace_on(graph=True)
        twice(tf.constant(1.0))
        summary.trace_export("trace", step=3)
    assert sonde.load(tmp_path)[".", "trace"].plugin == "graph_run_metadata_graph"
