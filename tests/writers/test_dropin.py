"""What a new user's program would lose or be misled by: encodings, addresses, full disks, compiled functions."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from tensorboard.backend.event_processing import event_accumulator

import sonde
import sonde.summary
from events import files, read


def test_one_encoding_a_tag_read_by_the_originals(tmp_path):
    values = [1.0, 0.5, 0.1, 1 / 3, 2.0, np.pi, 1e-300, 16777217.0]  # exact and rounded float32 in turn
    with sonde.Writer(str(tmp_path)) as log:
        for step, value in enumerate(values):
            log.scalar("x", value, step)
        log.scalars({"y": 0.1, "z": 0.5}, 0)
    accumulator = event_accumulator.EventAccumulator(str(tmp_path), size_guidance={"scalars": 0})
    accumulator.Reload()
    theirs = [e.value for e in accumulator.Scalars("x")]
    assert theirs == [float(np.float32(v)) for v in values]
    assert set(accumulator.Tags()["scalars"]) == {"x", "y", "z"} and not accumulator.Tags()["tensors"]
    ours = sonde.load(tmp_path)
    assert ours[".", "x"].values.tolist() == values and ours[".", "y"].values.tolist() == [0.1]


@pytest.mark.parametrize("scheme", ["hdfs", "abfs", "ftp"])
def test_other_schemes_are_refused_and_make_no_folder(tmp_path, monkeypatch, scheme):
    monkeypatch.chdir(tmp_path)
    for make in (sonde.Writer, sonde.SummaryWriter, sonde.summary.create_file_writer):
        with pytest.raises(ValueError, match=f"{scheme}://bucket/run"):
            make(f"{scheme}://bucket/run")
    assert os.listdir(tmp_path) == []


def test_file_addresses_are_folders(tmp_path):
    with sonde.SummaryWriter(f"file://{tmp_path}/a%20b") as w:
        w.add_scalar("x", 1, 1)
        w.add_embedding(np.eye(2))
    assert len(sonde.load(tmp_path / "a b")[".", "x"]) == 1
    assert (tmp_path / "a b" / "projector_config.pbtxt").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_a_full_disk_says_what_was_lost(tmp_path):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(tmp_path)], check=False).returncode:
        pytest.skip("this machine does not let root mount a tmpfs")
    try:
        code = f"""
            import numpy as np, sonde
            w = sonde.SummaryWriter({str(tmp_path)!r})
            for step in range(20000): w.add_scalar("some/tag", step / 3, step)
            w.flush()
            assert "No space left" in w.problem, w.problem
            w.add_embedding(np.zeros((4000, 64)))
            w.close()
            print(w.dropped)
        """
        run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
        kept = sum(1 for path in files(tmp_path)["."] for e in read(path) if e.summary.value)
        assert 0 < kept < 20000
        assert int(run.stdout) == 20000 - kept + 1  # the embedding is the one
        assert f"{20000 - kept} records lost, first at step {kept}: " in run.stderr, run.stderr
        assert run.stderr.count("No space left") <= 4, run.stderr  # said, not repeated
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_model_that_cannot_be_traced_does_not_stop_training(tmp_path):
    torch = pytest.importorskip("torch")

    class Odd(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.nn.Linear(2, 2)

        def forward(self, x):
            raise ValueError("not today")

    w = sonde.SummaryWriter(tmp_path)
    w.add_graph(Odd(), torch.zeros(1, 2))
    w.close()
    assert "module tree" in w.problem and "not today" in w.problem
    assert [e for e in read(files(tmp_path)["."][0]) if e.graph_def]


def test_hparams_by_keyword_as_ray_tune_calls_it():
    from sonde import _patch

    made = _patch._stand_ins("tensorboardX")["tensorboardX.summary"].hparams(
        hparam_dict={"lr": 0.1}, metric_dict={"loss": 1}
    )
    assert len(made) == 3


def test_stand_ins_offer_what_programs_import():
    from sonde import _patch

    for root in ("torch.utils.tensorboard", "tensorboardX"):
        made = _patch._stand_ins(root)
        summary = made[f"{root}.summary"]
        for name in ("scalar", "hparams", "histogram", "image", "text", "audio", "video", "mesh", "pr_curve"):
            assert callable(getattr(summary, name)), name
    assert made["tensorboardX.record_writer"].RecordWriter and made["tensorboardX.event_file_writer"].EventFileWriter


def test_records_of_the_stand_in_are_read(tmp_path):
    from sonde._record_writer import RecordWriter
    from tensorboard.compat.proto import event_pb2, summary_pb2

    w = RecordWriter(str(tmp_path / "events.out.tfevents.1.x"))
    w.write(event_pb2.Event(wall_time=1, file_version="brain.Event:2").SerializeToString())
    value = summary_pb2.Summary.Value(tag="a", simple_value=2)
    w.write(event_pb2.Event(wall_time=1, step=3, summary=summary_pb2.Summary(value=[value])).SerializeToString())
    w.close()
    log = sonde.load(tmp_path)
    assert log[".", "a"].values.tolist() == [2.0] and not log.damage


def test_messages_of_the_stand_in():
    from sonde import _patch

    made = _patch._stand_ins("tensorboardX")
    event = made["tensorboardX.proto.event_pb2"].Event(step=3)
    assert made["tensorboardX"].proto.event_pb2.Event.FromString(event.SerializeToString()).step == 3
    with pytest.raises(ImportError, match="install tensorboardX or tensorboard"):
        _patch._no_message("event_pb2")


def test_spawned_workers_are_patched_when_asked(tmp_path):
    """The hook is a line in site-packages that python -m sonde patch writes; here in a folder of the test's own."""
    from sonde import _patch

    (tmp_path / "sonde_patch.pth").write_text(_patch._HOOK)
    code = f"""
        import site, sys
        site.addsitedir({str(tmp_path)!r})
        print("sonde" in sys.modules and bool(sys.modules["sonde._patch"]._undo))
    """
    for value, expected in (("1", "True"), ("0", "False"), ("", "False")):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "SONDE_PATCH": value}
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], env=environment, capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == expected, run.stderr


def test_patch_hands_the_variable_to_children(monkeypatch):
    monkeypatch.delenv("SONDE_PATCH", raising=False)
    sonde.patch()
    try:
        assert os.environ["SONDE_PATCH"] == "1"
    finally:
        sonde._patch.unpatch()
    assert "SONDE_PATCH" not in os.environ
