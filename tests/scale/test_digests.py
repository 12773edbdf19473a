"""A folder of digests: rank × step, stragglers, collectives and SQL without a trace; one rank's trace when it is opened."""

import base64
import json
import struct
import subprocess

import duckdb
import pytest

import traces
from sonde_server import PROGRAM, Server

RANKS, SLOW = 24, 3
POST = {"Content-Type": "application/json", "Sonde-Request": "1"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    paths = traces.write(folder / "captures", RANKS, slow=SLOW)
    run = subprocess.run([PROGRAM, "worker", *paths, "--out", folder / "digests"], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return folder


@pytest.fixture(scope="module")
def server(folder):
    with Server(folder) as server:
        yield server


def ask(server, path, body):
    status, answer = server.ask(path, json.dumps(body).encode(), "POST", POST)
    return status, json.loads(answer)


def test_it_is_a_session_of_its_own(server):
    sessions = {one["id"]: one for one in server.json("/api/v1/profile/sessions")}
    assert sessions["digest:digests"]["state"] == "digest" and sessions["digest:digests"]["captures"] == RANKS
    assert server.json("/api/v1/digests")[0]["captures"] == RANKS


def test_rank_and_step(server, folder):
    answer = server.json("/api/v1/digests/ranks?digest=digests")
    assert len(answer["ranks"]) == RANKS and answer["steps"] == ["0", "1", "2", "3"]
    cells = struct.unpack(f"<{RANKS * 4}f", base64.b64decode(answer["map"]["dur_ms"]))
    wanted = duckdb.sql(f"select rank, name, dur / 1e9 from '{folder}/digests/steps/*.parquet'").fetchall()
    assert len(wanted) == RANKS * 4
    for rank, step, ms in wanted:
        at = answer["ranks"].index(rank) * 4 + answer["steps"].index(step)
        assert cells[at] == pytest.approx(ms, rel=1e-6)


def test_who_keeps_the_others_waiting(server):
    answer = server.json("/api/v1/digests/collectives?digest=digests")
    assert {one["ranks"] for one in answer} == {RANKS} and len(answer) == 4
    # In three of four steps the slow rank comes last; in one it is its neighbour, which stumbled.
    last = [one["last_rank"].split("rank")[-1][:5] for one in sorted(answer, key=lambda one: one["number"])]
    assert last == ["00003", "00003", "00004", "00003"]


def test_sql_over_all_ranks(server, folder):
    for query in ("select count(*), sum(dur), count(distinct rank) from steps", "select count(*), sum(count) from ops",
                  "select max(dur), min(ts) from collectives", "select count(distinct capture) from captures"):
        table = query.split(" from ")[1]
        status, answer = ask(server, "/api/v1/digests/sql", {"digest": "digests", "sql": query})
        assert status == 200, answer
        assert answer["table"]["rows"][0] == list(duckdb.sql(query.replace(f"from {table}", f"from '{folder}/digests/{table}/*.parquet'")).fetchall()[0])
    assert ask(server, "/api/v1/digests/sql", {"digest": "digests", "sql": "delete from steps"})[0] == 400
    assert ask(server, "/api/v1/digests/sql", {"digest": "nowhere", "sql": "select 1"})[0] == 404


def test_one_rank_is_opened_as_a_session(server, folder):
    rank = server.json("/api/v1/digests/ranks?digest=digests")["ranks"][5]
    status, answer = ask(server, "/api/v1/digests/open", {"digest": "digests", "rank": rank})
    assert status == 200, answer
    assert server.json(f"/api/v1/profile/tools?session={answer['session']}")["hosts"][0]["slices"] > 10
    assert ask(server, "/api/v1/digests/open", {"digest": "digests", "rank": "nobody"})[0] == 404


def test_a_capture_elsewhere_is_not_opened(folder, tmp_path):
    outside = traces.write(tmp_path / "elsewhere", 1)
    run = subprocess.run([PROGRAM, "worker", *outside, "--out", tmp_path / "logs/digests"], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    with Server(tmp_path / "logs") as server:
        rank = server.json("/api/v1/digests/ranks?digest=digests")["ranks"][0]
        status, answer = ask(server, "/api/v1/digests/open", {"digest": "digests", "rank": rank})
        assert status == 403 and "log directory" in json.dumps(answer)


def test_damaged_files_are_named(folder, tmp_path):
    (tmp_path / "d/steps").mkdir(parents=True)
    good = next((folder / "digests/steps").glob("*.parquet")).read_bytes()
    for size in (0, 3, 40, len(good) // 2, len(good) - 1):
        (tmp_path / "d/steps/a.parquet").write_bytes(good[:size])
        with Server(tmp_path) as server:
            status, answer = server.ask("/api/v1/digests/ranks?digest=d", headers={})
            assert status >= 400 and b"a.parquet" in answer, size
