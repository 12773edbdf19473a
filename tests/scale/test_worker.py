"""`sonde worker`: digests of captures as Parquet say what `sonde profile --sql` says, and merge over ranks."""

import csv
import hashlib
import io
import subprocess

import duckdb
import pytest

from sonde_server import PROGRAM, ROOT

CAPTURES = ROOT / "tests/data/profile"
TABLES = 6  # steps, ops, collectives, memory, findings, captures
RANKS = [CAPTURES / f"torch_gloo_2ranks.worker{i}.pt.trace.json.gz" for i in range(2)]


def worker(*arguments):
    return subprocess.run([PROGRAM, "worker", *map(str, arguments)], capture_output=True, text=True, timeout=120)


def asked(capture, query):
    run = subprocess.run([PROGRAM, "profile", capture, "--sql", query, "--csv"], capture_output=True, text=True, timeout=120, check=True)
    return list(csv.reader(io.StringIO(run.stdout)))[1:]


def digests(out):
    return {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(out.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("name", ["jax_cpu_mlp.xplane.pb.gz", "made_gpu.xplane.pb.gz", "torch_cpu_full.worker0.pt.trace.json.gz"])
def test_a_digest_says_what_the_trace_says(name, tmp_path):
    run = worker(CAPTURES / name, "--out", tmp_path, "--rank", "seven")
    assert run.returncode == 0, run.stderr
    for table, query in {"ops": "select sum(count), sum(dur), sum(self), count(*) from names", "steps": "select count(*), sum(dur), sum(input) from steps"}.items():
        columns = query.removeprefix("select ").split(" from ")[0]
        ours = duckdb.sql(f"select {columns} from '{tmp_path}/{table}/*.parquet'").fetchall()[0]
        theirs = asked(CAPTURES / name, query)[0]
        assert [int(x or 0) for x in ours] == [int(float(x or 0)) for x in theirs], table
    assert duckdb.sql(f"select distinct rank from '{tmp_path}/ops/*.parquet'").fetchall() == [("seven",)]


def test_ranks_merge_and_a_second_run_writes_the_same_bytes(tmp_path):
    assert worker(*RANKS, "--out", tmp_path / "a").returncode == 0
    for rank in RANKS:  # by others, in another order, one of them twice
        assert worker(rank, "--out", tmp_path / "b").returncode == 0
    assert worker(RANKS[0], "--out", tmp_path / "b").returncode == 0
    assert digests(tmp_path / "a") == digests(tmp_path / "b") and len(digests(tmp_path / "a")) == 2 * TABLES
    assert duckdb.sql(f"select count(distinct rank) from '{tmp_path}/a/steps/*.parquet'").fetchall()[0] == (2,)


def test_a_capture_that_cannot_be_read_loses_nothing_else(tmp_path):
    (tmp_path / "bad.json").write_text("no capture")
    run = worker(tmp_path / "bad.json", RANKS[0], "--out", tmp_path / "out")
    assert run.returncode == 1 and "bad.json" in run.stderr
    assert len(digests(tmp_path / "out")) == TABLES
    assert worker(RANKS[0]).returncode == 2
