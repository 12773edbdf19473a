"""`sonde export --format parquet|arrow`: DuckDB, polars and pyarrow read the rows that the JSON lines hold."""

import json
import math
import os
import subprocess
from pathlib import Path

import duckdb
import polars
import pyarrow.compute
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

from event_files import event_file

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests/data/corpus"
SONDE = Path(os.environ.get("SONDE_BINARY", ROOT / "build/release/sonde"))
FOLDERS = ["edge_values", "edge_tags", "tf2_scalars", "tf2_text", "tf2_histograms", "edge_metadata", "edge_steps", "edge_empty"]


def export(logdir, format, out, *flags):
    run = subprocess.run([SONDE, "export", str(logdir), "--format", format, "-o", str(out), *flags], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return out


def expected(logdir, tmp_path):
    """run, tag, plugin, step, wall time, value, JSON of every point, from the lines."""
    rows = []
    for line in export(logdir, "jsonl", tmp_path / "lines").read_text(encoding="utf-8").splitlines():
        point = json.loads(line)
        rows.append((point["run"], point["tag"], point["plugin"], point["step"], point["wall_time"], point["value"]))
    return rows


def same(rows, wanted):
    assert len(rows) == len(wanted)
    for row, want in zip(rows, wanted):
        assert row[:4] == want[:4]
        assert real(row[4]) == real(want[4]) or (math.isnan(real(row[4])) and math.isnan(real(want[4])))
        if row[5] is None:
            assert json.loads(row[6]) == want[5]
        else:
            assert row[6] is None
            value, want_value = row[5], real(want[5])
            assert value == pytest.approx(want_value, rel=1e-6, nan_ok=True)


def real(value):
    return float(value.replace("Infinity", "inf")) if isinstance(value, str) else float(value)


@pytest.mark.parametrize("name", FOLDERS)
def test_every_reader_sees_every_point(name, tmp_path):
    wanted = expected(CORPUS / name, tmp_path)
    parquet = export(CORPUS / name, "parquet", tmp_path / "points.parquet")
    arrow = export(CORPUS / name, "arrow", tmp_path / "points.arrow")
    tables = {
        "pyarrow parquet": pyarrow.parquet.read_table(parquet),
        "pyarrow arrow": pyarrow.feather.read_table(arrow, memory_map=True),
        "polars": polars.read_parquet(parquet).to_arrow(),
        "polars arrow": polars.read_ipc(arrow).to_arrow(),
    }
    for reader, table in tables.items():
        if reader.startswith("pyarrow"):
            table.validate(full=True)
        columns = [table.column(i).to_pylist() for i in range(table.num_columns)]
        assert table.column_names == ["run", "tag", "plugin", "step", "wall_time", "value", "json"], reader
        same(list(zip(*columns)), wanted)
    same(duckdb.sql(f"select * from '{parquet}'").fetchall(), wanted)


def test_a_million_rows_are_several_row_groups(tmp_path):
    logs = tmp_path / "logs"
    for run in range(12):
        (logs / f"run{run}").mkdir(parents=True)
        (logs / f"run{run}/events.out.tfevents.1").write_bytes(event_file(100) if run else event_file(100_000))
    for i in range(11):
        (logs / f"copy{i}").mkdir()
        os.link(logs / "run0/events.out.tfevents.1", logs / f"copy{i}/events.out.tfevents.1")
    out = export(logs, "parquet", tmp_path / "points.parquet")
    meta = pyarrow.parquet.ParquetFile(out).metadata
    assert meta.num_rows == 12 * 100_000 + 11 * 100 and meta.num_row_groups == 2
    assert meta.row_group(0).column(3).statistics.min == 0 and meta.row_group(0).column(3).statistics.max == 99_999
    assert duckdb.sql(f"select count(*), sum(value), count(distinct run) from '{out}'").fetchall()[0] == (
        meta.num_rows, 12 * sum(range(100_000)) + 11 * sum(range(100)), 23)
    table = pyarrow.feather.read_table(export(logs, "arrow", tmp_path / "points.arrow"))
    assert table.num_rows == meta.num_rows and pyarrow.compute.sum(table["step"]).as_py() == 12 * sum(range(100_000)) + 11 * sum(range(100))
    assert out.stat().st_size < 12_000_000 and meta.row_group(0).column(0).compression == "ZSTD"


def test_a_full_disk_is_said():
    run = subprocess.run([SONDE, "export", str(CORPUS / "tf2_scalars"), "--format", "parquet", "-o", "/dev/full"], capture_output=True, text=True)
    assert run.returncode == 1 and "cannot be written" in run.stderr


def test_a_row_a_run_with_its_hyperparameters(tmp_path):
    logs = CORPUS / "torch_hparams"
    if not logs.exists():
        import tarfile

        with tarfile.open(ROOT / "tests/compat/data/torch_hparams.tar.gz") as archive:
            archive.extractall(tmp_path)
        logs = tmp_path / "torch_hparams"
    rows = pyarrow.parquet.read_table(export(logs, "parquet", tmp_path / "runs.parquet", "--table", "runs")).to_pylist()
    points = pyarrow.parquet.read_table(export(logs, "parquet", tmp_path / "points.parquet")).to_pylist()
    assert {row["run"] for row in rows} >= {row["run"] for row in points}
    names = [name for name in rows[0] if name.startswith("hparam.")]
    assert names and any(row[name] is not None for row in rows for name in names)
    arrow = pyarrow.feather.read_table(export(logs, "arrow", tmp_path / "runs.arrow", "--table", "runs")).to_pylist()
    assert arrow == rows


def test_partitions_hold_what_one_file_holds(tmp_path):
    logs = tmp_path / "logs"
    for run, points in (("a", 3), ("b/c d", 4)):
        (logs / run).mkdir(parents=True)
        (logs / run / "events.out.tfevents.1").write_bytes(event_file(points))
    export(logs, "parquet", tmp_path / "parts", "--partition")
    question = "select run, tag, step, value from '{}' order by run, step"
    whole = export(logs, "parquet", tmp_path / "all.parquet")
    assert duckdb.sql(question.format(tmp_path / "parts/*/*.parquet")).fetchall() == duckdb.sql(question.format(whole)).fetchall()
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == ["run=a", "run=b%2Fc%20d"]


def test_columns_answer_as_arrow(tmp_path):
    from sonde_server import Server

    for run, points in (("a", 30), ("b", 20)):
        (tmp_path / run).mkdir()
        (tmp_path / run / "events.out.tfevents.1").write_bytes(event_file(points))
    question = {"series": [{"tag": "loss", "runs": "all"}], "agg": ["last", "count", "wall"], "format": "arrow"}
    with Server(tmp_path) as server:
        status, body = server.ask("/api/v1/columns", json.dumps(question).encode(), "POST", {"Content-Type": "application/json"})
        assert status == 200
        table = pyarrow.ipc.open_file(body).read_all()
        assert table.column("run").to_pylist() == ["a"] * 30 + ["b"] * 20 and set(table.column("tag").to_pylist()) == {"loss"}
        assert table.column("x").to_pylist() == table.column("last").to_pylist() == [*map(float, range(30)), *map(float, range(20))]
        assert set(table.column("count").to_pylist()) == {1} and len(polars.read_ipc(body)) == 50
        question["format"] = "feather"
        assert server.ask("/api/v1/columns", json.dumps(question).encode(), "POST", {"Content-Type": "application/json"})[0] == 400
