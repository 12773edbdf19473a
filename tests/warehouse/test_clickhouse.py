"""`sonde push`: every point once, however often and however interrupted, in ClickHouse 18 and in the newest engine."""

import math
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from databases import Debian, Newest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import event_log
SONDE = Path(os.environ.get("SONDE_BINARY", ROOT / "build/release/sonde"))
CORPUS = ROOT / "tests/data/corpus"


@pytest.fixture(scope="module", params=[Debian, Newest])
def database(request, tmp_path_factory):
    server = request.param(tmp_path_factory.mktemp("clickhouse"))
    yield server
    server.stop()


def push(database, logdir, *flags, password="word", check=True):
    run = subprocess.run([SONDE, "push", str(logdir), "--to", f"clickhouse://default@127.0.0.1:{database.port}/sonde", *flags],
                         capture_output=True, text=True, timeout=120, env=os.environ | {"CLICKHOUSE_PASSWORD": password})
    assert "word" not in run.stdout + run.stderr
    if check:
        assert run.returncode == 0, run.stderr
    return run


def exported(logdir):
    run = subprocess.run([SONDE, "export", str(logdir)], capture_output=True, text=True, timeout=60, check=True)
    import csv
    import io

    rows = [r for r in csv.DictReader(io.StringIO(run.stdout)) if r["plugin"] == "scalars"]
    return sorted((r["run"], r["tag"], int(r["step"])) for r in rows)


def pushed(database, project):
    rows = database.ask(f"SELECT run, tag, step FROM sonde.points FINAL WHERE project = '{project}'")
    return sorted((run, tag, int(step)) for run, tag, step in rows)


def test_every_point_once_however_often(database):
    wanted = exported(CORPUS / "tf2_scalars")
    assert len(wanted) == 97
    assert push(database, CORPUS / "tf2_scalars", "--project", "once").stdout.startswith("sent 97 of 97")
    assert pushed(database, "once") == wanted
    assert push(database, CORPUS / "tf2_scalars", "--project", "once").stdout.startswith("sent 0 of 97")
    assert pushed(database, "once") == wanted
    last = database.ask("SELECT run, tag, argMaxMerge(value), argMaxMerge(step) FROM sonde.last WHERE project = 'once' GROUP BY run, tag ORDER BY run, tag")
    assert len(last) == len({row[:2] for row in wanted})
    assert {(run, tag): int(step) for run, tag, _, step in last} == {(run, tag): step for run, tag, step in wanted}
    assert int(database.ask("SELECT sum(points) FROM sonde.runs FINAL WHERE project = 'once'")[0][0]) == 97


def test_a_pusher_that_died_leaves_nothing_twice_and_nothing_out(database):
    wanted = exported(CORPUS / "tf2_scalars")
    push(database, CORPUS / "tf2_scalars", "--project", "died", "--tags", "loss")  # as far as it came
    assert 0 < len(pushed(database, "died")) < 97
    push(database, CORPUS / "tf2_scalars", "--project", "died")
    assert pushed(database, "died") == wanted
    # Rows that were sent a second time, because the answer to the first did not arrive, are one row.
    database.ask("INSERT INTO sonde.points SELECT * FROM sonde.points WHERE project = 'died' AND n < 3")
    push(database, CORPUS / "tf2_scalars", "--project", "died")
    assert pushed(database, "died") == wanted


def test_levels_of_detail_are_those_of_the_points(database, tmp_path):
    """Computed here from the points, whatever was sent twice: two pushes, and rows that arrived a second time."""
    values = [math.sin(n * n / 1e4) * n for n in range(70_000)]
    file = tmp_path / "logs/run/events.out.tfevents.1"
    file.parent.mkdir(parents=True)
    records = [event_log.scalars(1.7e9 + n, 3 * n, {"loss": value}) for n, value in enumerate(values)]
    for end in (30_001, len(values)):
        file.write_bytes(event_log.first(1.7e9) + b"".join(records[:end]))
        push(database, tmp_path / "logs", "--project", "levels")
    database.ask("INSERT INTO sonde.points SELECT * FROM sonde.points WHERE project = 'levels' AND n > 29000 AND n < 31000")
    values = [struct.unpack("f", struct.pack("f", value))[0] for value in values]
    for level in (8, 12, 16):
        rows = database.ask("SELECT bucket, minMerge(least), maxMerge(most), argMinMerge(first), argMaxMerge(last), argMinMerge(first_step), "
                            "argMaxMerge(last_step), maxMerge(last_n) FROM sonde.lod WHERE project = 'levels' AND run = 'run' AND tag = 'loss' "
                            f"AND level = {level} GROUP BY bucket ORDER BY bucket")
        size = 1 << level
        assert len(rows) == -(-len(values) // size)
        for bucket, row in enumerate(rows):
            begin, end = bucket * size, min(len(values), (bucket + 1) * size)
            part = values[begin:end]
            assert [float(cell) for cell in row] == [bucket, min(part), max(part), part[0], part[-1], 3 * begin, 3 * (end - 1), end - 1]


def test_odd_numbers_and_names_arrive(database):
    push(database, CORPUS / "edge_values", "--project", "it's \\ odd")
    rows = database.ask("SELECT run, countIf(isNaN(value)), countIf(isInfinite(value)) FROM sonde.points FINAL WHERE project LIKE 'it%odd' GROUP BY run")
    assert any(int(nan) for _, nan, _ in rows) and any(int(inf) for _, _, inf in rows)
    assert push(database, CORPUS / "edge_values", "--project", "it's \\ odd").stdout.startswith("sent 0 of")


def test_a_series_that_was_rewritten_is_said_and_replaced_on_demand(database, tmp_path):
    import shutil

    shutil.copytree(CORPUS / "tf2_scalars/train", tmp_path / "logs/run")
    push(database, tmp_path / "logs", "--project", "anew")
    shutil.rmtree(tmp_path / "logs/run")
    shutil.copytree(CORPUS / "tf2_scalars/validation", tmp_path / "logs/run")
    run = push(database, tmp_path / "logs", "--project", "anew", check=False)
    assert run.returncode == 1 and "--replace" in run.stderr
    push(database, tmp_path / "logs", "--project", "anew", "--replace")
    tags = {row[1] for row in exported(tmp_path / "logs")}
    assert [row for row in pushed(database, "anew") if row[1] in tags] == exported(tmp_path / "logs")


def test_what_is_wrong_is_said(tmp_path):
    run = subprocess.run([SONDE, "push", str(CORPUS / "tf2_scalars"), "--to", "clickhouse://nowhere"], capture_output=True, text=True)
    assert run.returncode == 2 and "clickhouse://[USER" in run.stderr
