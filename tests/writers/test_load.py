"""sonde.load as a person at a prompt uses it: what is given, what is kept, what comes back."""

import subprocess
import sys

import numpy as np
import pytest

import sonde
import sonde.summary


@pytest.fixture
def logs(tmp_path):
    for name, lr, first in (("a", 0.1, 5.0), ("b", 0.2, 7.0)):
        with sonde.SummaryWriter(str(tmp_path / name)) as writer:
            for step in range(6):
                writer.add_scalar("loss", first - step, step)
            writer.add_scalar("acc", first, 3)
            writer.add_hparams({"lr": lr, "opt": "adam", "deep": True}, {"final": first}, run_name=".")
            writer.add_text("note", "hello", 1)
            writer.add_text("note", "world", 2)
    return tmp_path


def test_only_what_matches_is_kept(logs):
    log = sonde.load(logs, runs="a", tags=["loss", "no.*"], steps=(2, 4))
    assert set(log) == {("a", "loss"), ("a", "note/text_summary")}
    assert log["a", "loss"].steps.tolist() == [2, 3, 4] and len(log["a", "loss"]) == 3
    assert log["a", "note/text_summary"].texts() == [["world"]]
    assert {tag for _, tag in sonde.load(logs, kinds="text")} == {"note/text_summary"}


def test_a_file_a_list_and_names(logs):
    path = min(one for one in (logs / "a").iterdir() if "tfevents" in one.name)  # the writer's own; add_hparams has another
    assert len(sonde.load(path)[".", "loss"]) == 6
    assert sonde.load([logs / "a", logs / "b"])["b", "loss"].values[0] == 7
    assert set(sonde.load({"old": logs / "a", "new": str(logs / "b")}).runs) == {"old", "new"}
    with pytest.raises(FileNotFoundError, match="no log directory"):
        sonde.load(logs / "absent")
    with pytest.raises(TypeError, match="not int"):
        sonde.load(3)
    with pytest.raises(ValueError, match="not a valid regular expression"):
        sonde.load(logs, runs="(")


def test_one_column_a_run(logs):
    with sonde.Writer(str(logs / "b")) as writer:
        writer.scalar("loss", 0.5, 9)
    table = sonde.load(logs).wide("loss")
    assert list(table) == ["step", "a", "b"] and table["step"].tolist() == [0, 1, 2, 3, 4, 5, 9]
    assert np.isnan(table["a"][-1]) and table["b"][-1] == 0.5


def test_hyperparameters_and_metrics(logs):
    table = sonde.load(logs).hparams(metrics=["loss", "final"])
    assert table["run"].tolist() == ["a", "b"]
    assert table["lr"].tolist() == [0.1, 0.2] and table["opt"].tolist() == ["adam"] * 2 and table["deep"].tolist() == [True] * 2
    assert table["loss"].tolist() == [0, 2] and table["final"].tolist() == [5, 7]
    assert sonde.load(logs, runs="none").hparams()["run"].tolist() == []


def test_sessions_named_by_the_time_belong_to_the_run_above(tmp_path):
    for name, lr in (("a", 0.1), ("b", 0.2)):
        with sonde.SummaryWriter(tmp_path / name) as writer:
            writer.add_scalar("val/loss", lr * 10, 5)
            writer.add_hparams({"lr": lr}, {"best": lr})
    table = sonde.load(tmp_path).hparams(metrics=["val/loss", "best"])
    assert table["run"].tolist() == ["a", "b"] and table["lr"].tolist() == [0.1, 0.2]
    assert table["val/loss"] == pytest.approx([1, 2]) and table["best"] == pytest.approx([0.1, 0.2])
    with sonde.SummaryWriter(tmp_path / "a") as writer:  # two of them: neither speaks for the run
        writer.add_hparams({"lr": 0.3}, {"best": 1}, run_name="1700000000.25")
    assert len([run for run in sonde.load(tmp_path).hparams()["run"] if run.startswith("a/")]) == 2


def test_damaged_hyperparameters_are_none():
    from sonde._hparam_values import session_start

    content = bytes.fromhex("1a0d0a0b0a026c721209119a9999999999b93f")
    for end in range(len(content)):
        assert session_start(content[:end]) is None or end == 0 or isinstance(session_start(content[:end]), tuple)


def test_media_are_decoded(tmp_path):
    picture = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(1, 2, 3, 3)
    sound = np.linspace(-0.9, 0.9, 20, dtype=np.float32).reshape(1, 10, 2)
    with sonde.summary.create_file_writer(tmp_path).as_default(step=1):
        sonde.summary.image("i", picture)
        sonde.summary.audio("s", sound, 8000)
    log = sonde.load(tmp_path)
    assert np.array_equal(log[".", "i"].images()[0], picture[0])
    ((samples, rate),) = log[".", "s"].audio()
    assert rate == 8000 and np.allclose(samples, sound[0], atol=1e-4)
    with pytest.raises(TypeError, match="not images"):
        log[".", "s"].images()


def test_places_as_in_every_sequence(logs):
    values = sonde.load(logs)["a", "note/text_summary"].values
    assert values[-1] == [b"world"] and values[0:1] == [[b"hello"]] and len(values[:]) == 2
    with pytest.raises(IndexError):
        values[2]


def test_what_a_prompt_shows(logs):
    log = sonde.load(logs)
    assert repr(log) == f"<Log of {len(log.runs)} runs, {len(log)} series>"
    for shown in (log, log["a", "loss"], log.scalars("loss")):
        assert "<table>" in shown._repr_html_()
    with pytest.raises(KeyError, match=r"log\.runs"):
        log["a", "absent"]


def test_later_points_come_with_refresh(logs):
    log = sonde.load(logs, runs="a")
    with sonde.Writer(str(logs / "a")) as writer:
        writer.scalar("later", 1.0, 0)
    assert ("a", "later") not in log
    assert ("a", "later") in log.refresh()


def test_the_package_lists_its_names_and_imports_without_keras():
    assert {"load", "SummaryWriter", "keras", "init", "patch"} <= set(dir(sonde))
    block = "import sys; sys.modules['keras'] = None\nfrom sonde import *\nassert load and SummaryWriter"
    run = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "leaked" not in run.stderr
