"""Recordings of numerics: own routes, the command and its exit codes, and a folder of dumps beside ordinary runs."""

import json
import shutil
import subprocess
import urllib.parse

from server import ROOT, SONDE, running

DUMP = ROOT / "tests" / "data" / "corpus" / "debugger_v2"


def records(path):
    """A second reader: the frames of a record file, counted by their lengths alone."""
    data, at, count = path.read_bytes(), 0, 0
    while at + 16 <= len(data):
        at += 16 + int.from_bytes(data[at : at + 8], "little")
        count += 1
    return count


def get(server, path, **query):
    answer = server.ask(f"/api/v1/numerics{path}?{urllib.parse.urlencode(query)}")
    assert answer.status == 200, answer.text
    return json.loads(answer.body)


def test_dumps_at_any_depth(tmp_path):
    shutil.copytree(DUMP, tmp_path / "a" / "b")
    shutil.copytree(DUMP, tmp_path / "c")
    for path in [*tmp_path.rglob("tfdbg*")]:
        path.chmod(0o644)
    with running(logdir=tmp_path) as server:
        assert [d["name"] for d in get(server, "")["dumps"]] == ["a/b", "c"]
        summary = get(server, "/summary", dump="a/b")
        assert summary["sentence"].startswith("First NaN: `Log` at gen_tf.py:401")
        assert summary["fault"]["chain"][summary["fault"]["at"]]["op"] == "Log"
        counted = {file["kind"]: file["records"] for file in summary["files"]}
        for kind, number in counted.items():
            assert number == records(next((tmp_path / "c").glob(f"*.{kind}"))), kind
        traces = get(server, "/traces", dump="c", **{"from": 2, "count": 3})
        assert (traces["total"], traces["from"], len(traces["rows"])) == (8, 2, 3)
        assert [row["index"] for row in get(server, "/traces", dump="c", only="bad")["rows"]] == [0, 2, 3, 4, 6, 7]
        executions = get(server, "/executions", dump="c")
        assert [row["type"] for row in executions["rows"]][-1] == "RealDiv"
        health = get(server, "/map", dump="c")
        assert health["steps"] == [0, 1]
        assert health["rows"][0]["op"] == "Log"
        assert health["rows"][0]["first_bad"] == 0
        graph = traces["rows"][0]["graph"]
        op = get(server, "/op", dump="c", graph=graph, op="block/mul")
        assert [one["op"] for one in op["inputs"]] == ["Log", "block/mul/y"]
        assert [one["op"] for one in op["consumers"]] == ["block/Sum"]
        own = [frame for frame in op["frames"] if frame["own"]]
        source = get(server, "/source", dump="c", index=own[-1]["source"])
        assert source["path"].endswith("gen_tf.py") and len(source["lines"]) >= own[-1]["line"]
        assert get(server, "/stack", dump="c", execution=3)["frames"]
        for path in ("/summary?dump=nothing", "/op?dump=c&graph=x&op=y", "/source?dump=c&index=999", "/stack?dump=c&execution=-1"):
            assert server.ask("/api/v1/numerics" + path).status == 404, path
        assert server.ask("/api/v1/numerics/summary").status == 400
        assert set(json.loads(server.ask("/data/plugin/debugger-v2/runs").body)) == {"a/b", "c"}


def test_parameters_are_cut_as_tensorboard_cuts_them():
    """It keeps a request as one text, joined by '_' and cut at the first dot."""
    with running(logdir=DUMP) as server:
        def asked(path):
            answer = server.ask(f"/data/plugin/debugger-v2/{path}")
            return answer.status, json.loads(answer.body)

        run = "run=__default_debugger_run__"
        frames = asked(f"execution/data?{run}")[1]["executions"][0]["stack_frame_ids"]
        assert len(frames) > 1
        both = asked(f"stack_frames/stack_frames?{run}&stack_frame_ids={','.join(frames)}")
        assert both[0] == 200 and len(both[1]["stack_frames"]) == len(frames)
        assert asked(f"stack_frames/stack_frames?{run}&stack_frame_ids={'_'.join(frames)}") == both
        assert asked(f"stack_frames/stack_frames?{run}&stack_frame_ids=a.b") == (200, None)
        assert asked(f"alerts?{run}&alert_type=a.b") == (200, None)
        missing = {"error": "index is not provided for source file content"}
        assert asked("source_files/file?run=zz") == (400, missing)
        assert asked("stack_frames/stack_frames?run=zz") == (400, {"error": "Missing stack_frame_ids parameter"})


def test_a_dump_that_grows(tmp_path):
    for path in DUMP.iterdir():
        shutil.copy(path, tmp_path / path.name)
        (tmp_path / path.name).chmod(0o644)
    traces = next(tmp_path.glob("*.graph_execution_traces"))
    whole = traces.read_bytes()
    traces.write_bytes(whole[:1000])
    with running(logdir=tmp_path) as server:
        before = get(server, "/traces", dump=".")["total"]
        assert 0 < before < 8
        with traces.open("ab") as file:
            file.write(whole[1000:])
        assert get(server, "/traces", dump=".")["total"] == 8


def test_command(tmp_path):
    def run(*args):
        return subprocess.run([SONDE, "numerics", *map(str, args)], capture_output=True, text=True)

    found = run(DUMP)
    assert found.returncode == 3 and found.stdout.startswith("First NaN: `Log` at gen_tf.py:401")
    assert json.loads(run(DUMP, "--json").stdout)["line"] == 401
    assert run(tmp_path).returncode == 1
    assert run().returncode == 2
    assert run("--nonsense", DUMP).returncode == 2
    assert run("--help").returncode == 0
    same = run("diff", DUMP, DUMP)
    assert same.returncode == 0 and same.stdout.startswith("No difference in 8 tensors")


RANKS = ROOT / "tests" / "data" / "numerics" / "ranks"


def test_ranks_lie_side_by_side(tmp_path):
    shutil.copytree(RANKS, tmp_path / "job")
    with running(logdir=tmp_path) as server:
        dumps = get(server, "")["dumps"]
        assert [(d["name"], d["rank"]) for d in dumps] == [("job", 0), ("job/rank1", 1)]
        both = get(server, "/map", dump="job", beside="job/rank1")
        first = both["rows"][0]
        assert both["steps"] == list(range(9))
        assert first["first_bad"] == 6
        assert not any(first["bad"])
        assert [bool(bad) for bad in first["beside"][0]["bad"]][:7] == [False] * 6 + [True]
        alone = get(server, "/map", dump="job", order="module")
        names = [row["op"] for row in alone["rows"]]
        assert names.index("0/grad") == names.index("0") + 1
        assert "beside" not in alone["rows"][0]
        assert server.ask("/api/v1/numerics/map?dump=job&beside=nothing").status == 404


def test_two_recordings_op_by_op(tmp_path):
    shutil.copytree(RANKS, tmp_path / "job")
    with running(logdir=tmp_path) as server:
        answer = get(server, "/compare", dump="job", other="job/rank1")
        assert answer["sentence"].startswith("First difference: `3/grad`"), answer["sentence"]
        assert "in step 6" in answer["sentence"]
        assert answer["rows"][0]["first"]["nan"] == 0
        assert answer["rows"][0]["second"]["nan"] > 0
        assert answer["only_first"] == 0
        assert server.ask("/api/v1/numerics/compare?dump=job&other=job").status == 400


def test_alerts_and_the_tensors_of_one_step(tmp_path):
    shutil.copytree(RANKS / "rank1", tmp_path / "bad")
    with running(logdir=tmp_path) as server:
        alerts = get(server, "/alerts", dump="bad")
        assert alerts["counts"]["bad"] > 5
        assert all(row["step"] >= 6 for row in alerts["rows"] if row["kind"] == "bad")
        assert get(server, "/alerts", dump="bad", kind="dead")["total"] == alerts["counts"].get("dead", 0)
        of_step = get(server, "/traces", dump="bad", step=6, count=500)
        assert of_step["total"] == len(of_step["rows"]) > 10
        assert {row["step"] for row in of_step["rows"]} == {6}
        bad = get(server, "/traces", dump="bad", step=6, only="bad")
        assert 0 < bad["total"] < of_step["total"]


def test_the_demo_goes_wrong_on_purpose(tmp_path):
    subprocess.run([SONDE, "demo", str(tmp_path)], check=True, capture_output=True)
    asked = subprocess.run([SONDE, "numerics", "--json", str(tmp_path)], capture_output=True, text=True)
    answer = json.loads(asked.stdout)
    assert asked.returncode == 3
    assert (answer["type"], answer["line"], answer["dump"]) == ("log", 6, "moons/naive_loss")
    assert answer["step"] > 10
