"""Files that wandb, MLflow, Trackio, Optuna, Lightning, Keras and Hugging Face wrote, served without conversion and live.

The databases and the .wandb file were recorded from the real programs (tests/writers/record_trackers.py).
"""

import gzip
import json
import os
import shutil
import sqlite3
import time
import urllib.parse
from pathlib import Path

import pytest
from event_files import scalar
from server import running

DATA = Path(__file__).resolve().parents[1] / "data" / "trackers"
WANDB = DATA / "run-cnmr9q5o.wandb"


def unpacked(name, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_bytes(gzip.decompress((DATA / f"{name}.db.gz").read_bytes()))
    return to


def answer(server, target):
    reply = server.ask(target)
    assert reply.status == 200, (target, reply.status, reply.body[:300])
    return json.loads(reply.body)


def runs_of(server):
    return sorted(answer(server, "/data/runs"))


def points(server, run, tag):
    """[(wall time, step, value)] as TensorBoard's own page would see them."""
    query = urllib.parse.urlencode({"run": run, "tag": tag})
    return answer(server, f"/data/plugin/scalars/scalars?{query}")


def until(look, wanted):
    """Asks again until the answer is the wanted one: loading goes on behind the first answers."""
    end = time.monotonic() + 60
    while look() != wanted and time.monotonic() < end:
        pass
    assert look() == wanted


def points_so_far(server, run, tag):
    query = urllib.parse.urlencode({"run": run, "tag": tag})
    reply = server.ask(f"/data/plugin/scalars/scalars?{query}")
    return json.loads(reply.body) if reply.status == 200 else []


def hparams(server):
    body = json.dumps({"experimentName": "", "colParams": [], "sliceSize": 100, "startIndex": 0, "allowedStatuses": ["STATUS_SUCCESS", "STATUS_UNKNOWN", "STATUS_RUNNING", "STATUS_FAILURE"]}).encode()
    reply = server.ask("/data/plugin/hparams/session_groups", method="POST", body=body, headers={"Content-Type": "application/json"})
    assert reply.status == 200, reply.body[:300]
    return {s["name"]: g["hparams"] for g in json.loads(reply.body)["sessionGroups"] for s in g["sessions"]}


@pytest.fixture(scope="module")
def all_of_them(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trackers")
    (folder / "wandb/offline-run-20261118_023800-cnmr9q5o").mkdir(parents=True)
    shutil.copy(WANDB, folder / "wandb/offline-run-20261118_023800-cnmr9q5o")
    (folder / "wandb/latest-run").symlink_to("offline-run-20261118_023800-cnmr9q5o")
    for name in ("mlflow", "optuna"):
        unpacked(name, folder / name / f"{name}.db")
    unpacked("trackio", folder / "trackio" / "project.db")
    shutil.copytree(DATA / "mlruns", folder / "files" / "mlruns")
    lightning = folder / "lightning_logs/version_0"
    lightning.mkdir(parents=True)
    lightning.joinpath("metrics.csv").write_text("epoch,step,train_loss,val_loss\n0,9,0.5,\n0,9,,0.6\n1,19,nan,\n")
    (folder / "keras").mkdir()
    (folder / "keras/fit.csv").write_text("epoch,accuracy,loss\n0,0.5,1.5\n1,0.75,0.5\n")
    for step in (10, 20):
        history = [{"loss": 1 / s, "epoch": s / 20, "step": s} for s in range(10, step + 1, 10)] + [{"eval_loss": float("nan"), "step": step}]
        (folder / f"hf/checkpoint-{step}").mkdir(parents=True)
        (folder / f"hf/checkpoint-{step}/trainer_state.json").write_text(json.dumps({"log_history": history, "global_step": step}))
    (folder / "own.jsonl").write_text("".join(json.dumps({"step": i, "loss": 1 / (i + 1), "t": {"x": i}}) + "\n" for i in range(5)))
    # Not logs: samples, a data set, a database of something else.
    (folder / "samples.jsonl").write_text(json.dumps({"step": 1, "reward": 0.5, "prompt": "p" * 300}) + "\n")
    (folder / "iris.csv").write_text("width,height,kind\n1,2,a\n3,4,b\n")
    sqlite3.connect(folder / "other.db").execute("create table t (x)").connection.close()
    (folder / "noise.db").write_bytes(os.urandom(5000))
    (folder / "noise.wandb").write_bytes(b":W&B" + os.urandom(5000))
    before = sorted((str(p), p.stat().st_size) for p in folder.rglob("*") if p.is_file())
    with running(logdir=folder) as server:
        until(lambda: len(points_so_far(server, "wandb/small/first", "loss")), 20)
        until(lambda: json.loads(server.ask("/api/v1/diagnosis").body).get("loading", False), False)
        yield server
    assert before == sorted((str(p), p.stat().st_size) for p in folder.rglob("*") if p.is_file()), "the program wrote beside the logs"


def test_runs_of_every_tracker_stand_in_one_table(all_of_them):
    assert runs_of(all_of_them) == sorted(
        [
            "files/mlruns/small/files",
            "hf",
            "keras/fit",
            "lightning_logs/version_0",
            "mlflow/small/trial-0",
            "mlflow/small/trial-1",
            *[f"optuna/small/trial-{i}" for i in range(6)],
            "own",
            "trackio/project/first",
            "wandb/small/first",
        ]
    )


@pytest.mark.parametrize(
    ("run", "tag", "steps", "values"),
    [
        ("wandb/small/first", "loss", range(20), [1 / (i + 1) for i in range(20)]),
        ("wandb/small/first", "nested/acc", range(20), [i / 20 for i in range(20)]),
        ("mlflow/small/trial-1", "loss", range(10), [1 / (i + 2) for i in range(10)]),
        ("mlflow/small/trial-0", "val/acc", range(10), [i / 10 for i in range(10)]),
        ("files/mlruns/small/files", "val/acc", range(10), [i / 10 for i in range(10)]),
        ("trackio/project/first", "loss", range(10), [1 / (i + 1) for i in range(10)]),
        ("lightning_logs/version_0", "val_loss", [9], [0.6]),
        ("keras/fit", "accuracy", [0, 1], [0.5, 0.75]),
        ("hf", "train/loss", [10, 20], [0.1, 0.05]),
        ("own", "t/x", range(5), range(5)),
    ],
)
def test_the_numbers_are_those_that_were_logged(all_of_them, run, tag, steps, values):
    found = points(all_of_them, run, tag)
    assert [p[1] for p in found] == list(steps)
    assert [p[2] for p in found] == pytest.approx(list(values), rel=1e-6)


def test_times_are_those_of_the_program(all_of_them):
    """Recorded in November 2026; not 1970 and not now."""
    for run, tag in (("wandb/small/first", "loss"), ("mlflow/small/trial-0", "loss"), ("trackio/project/first", "loss"), ("files/mlruns/small/files", "loss")):
        assert 1.7949e9 < points(all_of_them, run, tag)[0][0] < 1.7951e9, run


def test_not_a_number_stays_not_a_number(all_of_them):
    for run, tag, step in (("wandb/small/first", "nan", 25), ("mlflow/small/trial-0", "bad", 0), ("hf", "eval/loss", 20), ("lightning_logs/version_0", "train_loss", 19)):
        assert [p[1:] for p in points(all_of_them, run, tag)][-1:] == [[step, "NaN"]], run


def test_configs_are_hyperparameters(all_of_them):
    found = hparams(all_of_them)
    assert found["wandb/small/first"]["lr"] == 0.01 and found["wandb/small/first"]["model/depth"] == 3
    assert found["mlflow/small/trial-1"] == {"lr": 0.2, "layers": 3, "opt": "adam"}
    assert found["files/mlruns/small/files"] == {"lr": 0.1, "opt": "adam"}
    assert found["trackio/project/first"]["lr"] == 0.01
    trials = [found[f"optuna/small/trial-{i}"] for i in range(6)]
    assert {t["opt"] for t in trials} == {"adam", "sgd"} and all(-1 <= t["x"] <= 1 for t in trials)


def test_texts_are_read_from_where_they_stand(all_of_them):
    found = answer(all_of_them, "/data/plugin/text/text?run=wandb%2Fsmall%2Ffirst&tag=text")
    assert [p["step"] for p in found] == list(range(20)) and "step 7" in found[7]["text"]


def test_a_wandb_file_grows(tmp_path):
    data = WANDB.read_bytes()
    path = tmp_path / "run/run-x.wandb"
    path.parent.mkdir()
    path.write_bytes(data[: len(data) // 2])
    with running(logdir=tmp_path) as server:
        until(lambda: 0 < len(points_so_far(server, "small/first", "loss")) < 20, True)
        with path.open("ab") as file:
            file.write(data[len(data) // 2 :])
        until(lambda: [p[1] for p in points_so_far(server, "small/first", "loss")], list(range(20)))


def test_a_database_gains_points_and_runs_while_it_is_written(tmp_path):
    path = unpacked("trackio", tmp_path / "p.db")
    with running(logdir=tmp_path) as server:
        until(lambda: runs_of(server), ["p/first"])
        base = sqlite3.connect(path)
        assert base.execute("pragma journal_mode").fetchone() == ("wal",)
        key = base.execute("select run_id from metrics").fetchone()[0]
        row = "insert into metrics (run_id, timestamp, run_name, step, metrics) values (?, '2026-11-18T03:00:00+00:00', ?, ?, ?)"
        base.execute(row, (key, "first", 10, '{"loss": 0.01}'))
        base.execute(row, ("second-id", "second", 0, '{"loss": NaN, "deep": {"x": 2}}'))
        base.commit()
        until(lambda: runs_of(server), ["p/first", "p/second"])
        until(lambda: [p[1] for p in points_so_far(server, "p/first", "loss")], list(range(11)))
        assert points(server, "p/second", "deep/x")[0][1:] == [0, 2.0]
        base.close()


def test_a_csv_whose_header_changes_is_read_again(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("step,loss\n0,1\n1,2\n")
    with running(logdir=tmp_path) as server:
        until(lambda: [p[2] for p in points_so_far(server, ".", "loss")], [1, 2])
        path.write_text("step,acc,loss\n0,0.5,1\n1,,2\n2,0.7,3\n")
        until(lambda: [p[2] for p in points_so_far(server, ".", "loss")], [1, 2, 3])
        assert [p[1] for p in points(server, ".", "acc")] == [0, 2]


def test_a_log_beside_event_files_is_a_run_of_its_own(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a/events.out.tfevents.1.x").write_bytes(scalar("loss", 0, 1.0))
    (tmp_path / "a/metrics.csv").write_text("step,loss\n0,5\n")
    with running(logdir=tmp_path) as server:
        until(lambda: runs_of(server), ["a", "a/metrics.csv"])
        until(lambda: len(points_so_far(server, "a", "loss")), 1)
        assert [p[2] for p in points(server, "a", "loss")] == [1]


def test_any_damage_leaves_the_server_standing(tmp_path):
    sources = {"x.wandb": WANDB.read_bytes(), **{f"{n}.db": gzip.decompress((DATA / f"{n}.db.gz").read_bytes()) for n in ("trackio", "optuna")}}
    seed = 12345
    for name, data in sources.items():
        for k in range(40):
            broken = bytearray(data)
            for _ in range(1 + k % 5):
                seed = (seed * 1103515245 + 12345) % 2**31
                broken[seed % len(broken)] ^= 1 + seed % 255
            if k % 4 == 0:
                del broken[seed % len(broken) :]
            folder = tmp_path / f"{name}-{k}"
            folder.mkdir()
            (folder / name).write_bytes(broken)
    with running(logdir=tmp_path) as server:
        for run in runs_of(server):
            answer(server, f"/data/plugin/scalars/tags?{urllib.parse.urlencode({'run': run})}")
