"""The rules of the Python calls: exceptions, defaults, odd arguments, life after close and fork."""

import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import sonde
import sonde.hparams as hp
from events import files, read
from sonde import summary


def points(folder, run="."):
    return [(e.step, v.tag, v.simple_value) for path in files(folder)[run] for e in read(path) for v in e.summary.value]


def test_wrong_scalars_raise_as_torch_does(tmp_path):
    w = sonde.SummaryWriter(tmp_path)
    with pytest.raises(AssertionError):
        w.add_scalar("a", np.zeros(2))
    with pytest.raises(NotImplementedError):
        w.add_scalar("a", [1])
    with pytest.raises(ValueError):
        w.add_scalar("a", 1.0, 2**63)
    with pytest.raises(ValueError):
        w.add_scalar("a", "no number")
    with pytest.raises(ValueError):
        w.add_histogram("h", np.zeros(0))
    with pytest.raises(ValueError):
        w.add_histogram("h", np.array([1e30]))
    with pytest.raises(TypeError):
        w.add_hparams([], {})
    with pytest.raises(AssertionError):
        w.add_image("i", np.zeros((3, 4)))


def test_a_value_beyond_float32_is_kept(tmp_path):
    with sonde.SummaryWriter(tmp_path) as w:
        w.add_scalar("big", 1e300, 1)
    assert sonde.load(tmp_path)[".", "big"].values.tolist() == [1e300]


def test_scalars_of_a_step_are_one_record(tmp_path):
    with sonde.Writer(str(tmp_path)) as w:
        assert w.scalars({"a": 0.5, "b": 0.1, "c": 3}, 7, 1.5)
        with pytest.raises(TypeError):
            w.scalars({"a": "no number"}, 8)
    (path,) = files(tmp_path)["."]
    events = list(read(path))[1:]
    assert [(e.step, e.wall_time, [v.tag for v in e.summary.value]) for e in events] == [(7, 1.5, ["a", "b", "c"])]
    log = sonde.load(tmp_path)
    assert [log[".", tag].values.tolist() for tag in "abc"] == [[0.5], [0.1], [3.0]]


def test_a_full_buffer_keeps_no_other_thread_from_running(tmp_path):
    # Both threads wait for room again and again; with the lock of the interpreter held they would never meet.
    with sonde.Writer(str(tmp_path), max_buffer_bytes=4096) as w:
        threads = [
            threading.Thread(target=lambda t=t: [w.scalar(f"t{t}", i, i) for i in range(3000)]) for t in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert w.dropped == 0
    assert len(points(tmp_path)) == 9000


def test_after_close_a_new_file_is_opened(tmp_path):
    w = sonde.SummaryWriter(tmp_path)
    w.add_scalar("a", 1, 1)
    w.close()
    w.close()
    w.add_scalar("a", 2, 2)
    w.flush()
    assert len(files(tmp_path)["."]) == 2 and len(points(tmp_path)) == 2
    w.close()


def test_subclass_may_override_add_scalar(tmp_path):
    class Mine(sonde.SummaryWriter):
        def add_scalar(self, tag, *args, **kwargs):
            super().add_scalar("mine/" + tag, *args, **kwargs)

    with Mine(tmp_path) as w:
        w.add_scalar("a", 1, global_step=3)
    assert points(tmp_path) == [(3, "mine/a", 1.0)]


def test_tensorboardx_without_a_disk(tmp_path):
    from sonde import _tensorboardx

    with _tensorboardx.SummaryWriter(tmp_path / "none", write_to_disk=False) as w:
        w.add_scalar("a", 1, 1)
        w.add_scalars("b", {"c": 1}, 1)
        w.add_text("t", "x", 1)
        w.add_hparams({"lr": 0.1}, {"m": 1.0})
        w.flush()
    assert not (tmp_path / "none").exists()


def test_file_writer_takes_foreign_summaries_and_events(tmp_path):
    from tensorboard.compat.proto import event_pb2, summary_pb2

    with sonde.SummaryWriter(tmp_path) as w:
        w.file_writer.add_summary(summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="x", simple_value=2)]), 5)
        w._get_file_writer().add_event(
            event_pb2.Event(summary=summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="y", simple_value=3)])), 6
        )
    assert points(tmp_path) == [(5, "x", 2.0), (6, "y", 3.0)]


def test_default_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with sonde.SummaryWriter(comment="_c") as w:
        assert w.log_dir.startswith("runs/") and w.log_dir.endswith("_c") and w.get_logdir() == w.log_dir


def test_children_write_files_of_their_own(tmp_path):
    with sonde.SummaryWriter(tmp_path) as w:
        w.add_scalar("parent", 0, 0)
        context = multiprocessing.get_context("fork")
        children = [context.Process(target=w.add_scalar, args=(f"child{i}", i, i)) for i in range(3)]
        for child in children:
            child.start()
        for child in children:
            child.join()
            assert child.exitcode == 0
        w.add_scalar("parent", 1, 1)
    assert sorted(tag for _, tag, _ in points(tmp_path)) == ["child0", "child1", "child2", "parent", "parent"]


def test_nothing_is_lost_at_exit_without_close(tmp_path):
    code = f"import sonde; w = sonde.SummaryWriter({str(tmp_path)!r}); [w.add_scalar('a', i, i) for i in range(1000)]"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert len(points(tmp_path)) == 1000


def test_threads(tmp_path):
    with sonde.SummaryWriter(tmp_path) as w:
        threads = [
            threading.Thread(target=lambda t=t: [w.add_scalar(f"t{t}", i, i) for i in range(2000)]) for t in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(points(tmp_path)) == 8000


def test_summary_steps_and_recording(tmp_path):
    assert summary.scalar("a", 1) is False  # no default writer: nothing happens
    writer = summary.create_file_writer(tmp_path)
    with writer.as_default():
        with pytest.raises(ValueError, match="No step set"):
            summary.scalar("a", 1)
        with pytest.raises(TypeError):
            summary.scalar("a", 1, step=1.5)
        with pytest.raises(ValueError, match="Expected scalar shape"):
            summary.scalar("a", [1, 2], step=0)
        summary.experimental.set_step(9)
        assert summary.should_record_summaries() and summary.scalar("a", 1)
        with summary.record_if(False):
            assert not summary.should_record_summaries() and summary.scalar("a", 1) is False
        summary.experimental.set_step(None)
        with summary.name_scope("scope"):
            summary.scalar("b", 1, step=1)
    writer.close()
    writer.close()
    with pytest.raises(RuntimeError), writer.as_default():
        pass
    with pytest.raises(ValueError):
        summary.create_file_writer(None)
    with summary.create_noop_writer().as_default(step=1):
        assert summary.scalar("a", 1) is False
    tags = [(e.step, v.tag) for path in files(tmp_path)["."] for e in read(path) for v in e.summary.value]
    assert tags == [(9, "a"), (1, "scope/b")]


def test_hparams_rules():
    group = "a755f4ffa62e5ad0270e4188c3414c7495b7724d82f185f1488502ac59204d63"
    made = hp.hparams_pb({"lr": 0.1, "n": 3, "b": True, hp.HParam("o"): "a"}, start_time_secs=1)
    assert group.encode() in made
    with pytest.raises(TypeError):
        hp.hparams_pb({"a": object()})
    with pytest.raises(ValueError):
        hp.hparams_pb({"a": 1, hp.HParam("a"): 2})
    with pytest.raises(TypeError):
        hp.RealInterval(1, 2)
    with pytest.raises(ValueError):
        hp.IntInterval(3, 2)
    with pytest.raises(ValueError):
        hp.Discrete([])
    assert hp.Discrete(["b", "a"]).values == ["a", "b"] and hp.IntInterval(1, 1).sample_uniform() == 1


def test_import_is_light():
    code = "import sys, sonde; sonde.SummaryWriter; print([m for m in ('numpy', 'torch', 'tensorboard', 'PIL', 'keras', 'google.protobuf') if m in sys.modules])"
    out = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=os.environ
    ).stdout
    assert out.strip() == "[]"
