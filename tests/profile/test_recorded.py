"""Sessions that hold stored results of old profilers and no capture show them as they were recorded: compared
cell by cell with what the classic plug-in showed for the same files."""

import importlib.util
import json
import os
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build" / "release" / "sonde"))


def shared_folder():
    for folder in (os.environ.get("SONDE_SHARED"), ROOT.parent / "shared"):
        if folder and (Path(folder) / "profile_samples" / "goldens").is_dir():
            return Path(folder)
    return None


SHARED = shared_folder()
PAIRS = [("classic_gpu_input_bound", "overview_page"), ("classic_gpu_input_bound", "input_pipeline_analyzer"),
         ("classic_gpu_input_bound", "tensorflow_stats"), ("classic_gpu_compute_bound", "overview_page"),
         ("classic_gpu_compute_bound", "input_pipeline_analyzer"), ("classic_cloud_tpu", "tensorflow_stats")]


def profile(*arguments):
    return subprocess.run([SONDE, "profile", *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.skipif(SHARED is None, reason="the sample captures (../shared/profile_samples) are not on this machine")
@pytest.mark.parametrize("capture, tool", PAIRS)
def test_recorded_results_as_the_classic_plugin_showed_them(capture, tool):
    golden = SHARED / "profile_samples" / "goldens" / capture / f"recorded.{tool}.neutral.json.gz"
    if not golden.exists():
        pytest.skip(f"no recorded {tool} of {capture}")
    sys.path.insert(0, str(ROOT / "tests" / "profile"))
    import compare_profile as compare

    folder = SHARED / "profile_samples" / "A" / capture
    run = profile(folder, "--tool", tool, "--format", "neutral")
    assert run.returncode == 0, run.stderr
    wanted = compare.load(str(golden))
    # What a recording does not hold (hosts, environment) is not shown; the tables it holds are compared whole.
    ours = json.loads(run.stdout)
    wanted["tables"] = {k: v for k, v in wanted["tables"].items() if k in ours["tables"]}
    wanted["scalars"] = {k: v for k, v in wanted["scalars"].items() if k in ours["scalars"]}
    result = compare.compare(wanted, compare.loads(run.stdout))
    assert wanted["tables"] and result.matched >= 0.99 * result.total, result.diffs[:5]


def test_stored_result_is_marked_and_others_say_what_is_missing(tmp_path):
    (tmp_path / "host.op_profile.json").write_text('{"cols":[{"id":"a","type":"number"}],"rows":[{"c":[{"v":7}]}]}')
    report = json.loads(profile(tmp_path, "--tool", "op_profile", "--json").stdout)
    assert report["tables"][0]["rows"] == [[7]]
    assert "as recorded" in report["title"] and "shown as they are" in report["diagnostics"][0]["text"]
    other = profile(tmp_path, "--tool", "overview_page")
    assert other.returncode == 1 and "no recorded result of overview_page" in other.stderr


def test_run_metadata_is_not_listed_to_tensorboard_but_answers_by_name(tmp_path):
    spec = importlib.util.spec_from_file_location("bench_import", ROOT / "bench" / "import.py")
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    (tmp_path / "train").mkdir()
    bench.event_file(tmp_path / "train" / "events.out.tfevents.1.host", 100)
    sys.path.insert(0, str(ROOT / "tests" / "http"))
    from server import running

    with running(logdir=tmp_path) as server:
        def ask(path):
            return json.loads(server.ask("/data/plugin/profile/" + path).body)

        for _ in range(200):  # until the event file is read
            sessions = json.loads(server.ask("/api/v1/profile/sessions").body)
            if sessions:
                break
            time.sleep(0.05)
        assert [s["id"].split("/")[0] for s in sessions] == ["train"]
        assert ask("runs") == []  # TensorBoard shows no Profile tab for such a run
        run = urllib.parse.quote(sessions[0]["id"])
        tools = ask(f"run_tools?run={run}")
        assert "framework_op_stats" in tools and "trace_viewer@" in tools and "op_profile" not in tools
        assert ask(f"hosts?run={run}&tag=framework_op_stats") == [{"hostname": "localhost"}]
        rows = ask(f"data?run={run}&tag=framework_op_stats")[1]["rows"]
        assert [row["c"][2]["v"] for row in rows] == ["MatMul"] * 10
