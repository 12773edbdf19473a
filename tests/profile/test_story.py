"""The story a capture tells: on an input-bound program the first finding names the stage and the line to
change; on the repaired one it is silent; the comparison shows the gain and the exit code guards it."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build" / "release" / "sonde"))
DATA = ROOT / "tests" / "data" / "profile"


def sonde(*arguments):
    return subprocess.run([SONDE, "profile", *map(str, arguments)], capture_output=True, text=True)


def report(name, tool="overview_page"):
    run = sonde(DATA / f"{name}.xplane.pb.gz", "--tool", tool, "--json")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def fired(r):
    assert all(f["fired"] for f in r["findings"]) and not any(f["fired"] for f in r["checked"])
    return r["findings"]


def figure(r, name):
    return next(f["value"] for f in r["figures"] if f["id"] == name)


def test_input_bound_loop_names_cause_and_change():
    first = fired(report("tf_loop_input_bound"))[0]
    assert first["id"] == "IN-WAIT"
    assert "MapAndBatch" in first["text"]
    assert "num_parallel_calls=tf.data.AUTOTUNE" in first["change"]["diff"]
    assert "cache()" in first["change"]["diff"] and "prefetch" in first["change"]["diff"]
    assert first["numbers"]["percent"] > 80
    assert int(first["gain_ps"]) > 80e9


def test_keras_capture_without_marked_steps_gets_them_and_the_same_cause():
    r = report("tf_input_bound")
    assert figure(r, "steps") == 6
    assert r["inferred"], "derived steps are marked as inferred"
    first = fired(r)[0]
    assert first["id"] == "IN-WAIT" and "MapAndBatch" in first["text"]
    assert "num_parallel_calls" in first["change"]["diff"]


def test_repaired_programs_do_not_wait_for_input():
    for name in ("tf_loop_input_fixed", "tf_input_fixed"):
        r = report(name)
        assert figure(r, "percent_6") < 5, name
        assert not [f for f in fired(r) if f["id"] == "IN-WAIT"], name


def test_compare_shows_the_gain_and_guards_against_the_loss():
    slow, fast = DATA / "tf_loop_input_bound.xplane.pb.gz", DATA / "tf_loop_input_fixed.xplane.pb.gz"
    better = sonde("--compare", slow, fast, "--json")
    assert better.returncode == 0
    r = json.loads(better.stdout)
    assert figure(r, "speedup") > 20
    parts = next(t for t in r["tables"] if t["id"] == "parts")
    assert parts["rows"][0][0] == "Input"
    assert sonde("--compare", fast, slow).returncode == 1
    assert sonde("--compare", fast, slow, "--max-slowdown", "1000000").returncode == 0


def test_compare_cannot_tell_is_no_pass(tmp_path):
    capture = DATA / "tf_loop_input_fixed.xplane.pb.gz"
    assert sonde("--compare", capture, DATA / "nothing.pb").returncode == 2
    broken = tmp_path / "host.xplane.pb"
    broken.write_bytes(b"")
    assert sonde("--compare", capture, broken).returncode == 2
    assert sonde("--compare", capture).returncode == 2
    without = DATA / "made_gpu.worker0.pt.trace.json.gz"
    unmarked = tmp_path / "worker.pt.trace.json"
    import gzip
    unmarked.write_bytes(gzip.decompress(without.read_bytes()).replace(b"ProfilerStep#", b"SomethingElse"))
    assert sonde("--compare", unmarked, unmarked).returncode in (0, 2)
    for wrong in ("", "fast", "-3", "nan", "5%"):
        run = sonde("--compare", capture, capture, "--max-slowdown", wrong)
        assert run.returncode == 2 and "--max-slowdown" in run.stderr, wrong


def test_a_tool_without_input_says_what_is_missing():
    r = report("tf_loop_input_bound", "kernel_stats")
    assert r["missing"] and r["missing"][0]["fix"]


def test_wrong_use_is_told():
    assert sonde().returncode == 2
    assert sonde(DATA / "nothing.pb").returncode == 1
    assert "no tool" in sonde(DATA, "--tool", "nonsense").stderr
    for flag in ("--rows", "--span"):
        for wrong in ("abc", "-1", "3.5", "99999999999", ""):
            assert f"{flag} takes a whole number, not '{wrong}'" in sonde(DATA, flag, wrong).stderr
