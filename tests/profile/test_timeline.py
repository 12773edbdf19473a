"""`sonde timeline` against what TensorFlow's own timeline module wrote, byte for byte, and against numbers
counted by hand. Recorded captures are not part of this repository: without ../shared their tests are skipped."""

import gzip
import hashlib
import json
import os
import re
import subprocess
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build" / "release" / "sonde"))
GOLDEN = ROOT / "tests" / "data" / "profile" / "two_devices.stepstats.pbtxt"


def samples():
    for folder in (os.environ.get("SONDE_SHARED"), ROOT.parent / "shared"):
        if folder and (Path(folder) / "profile_samples" / "goldens").is_dir():
            return Path(folder) / "profile_samples"
    return None


SAMPLES = samples()
needs_samples = pytest.mark.skipif(SAMPLES is None, reason="the sample captures (../shared/profile_samples) are not on this machine")
TRACED = [f"{c}/run_{i}" for c in ("tf1_matmul", "tf1_mlp") for i in range(3)] if SAMPLES else ["none"]


def run(*arguments, code=0, **more):
    done = subprocess.run([SONDE, "timeline", *map(str, arguments)], capture_output=True, **more)
    assert done.returncode == code, done.stderr.decode()
    return done.stdout


def events(*arguments, code=0):
    # A time of today in microseconds with decimals does not fit a double.
    return json.loads(run(*arguments, "-o", "-", code=code), parse_float=Decimal)["traceEvents"]


def of_phase(all_events, phase):
    return [e for e in all_events if e["ph"] == phase]


def packed(path):
    return path if path.exists() else path.with_name(path.name + ".gz")


def content(path):
    path = packed(path)
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def neutral(capture, tool):
    return json.loads(gzip.decompress((SAMPLES / "goldens" / capture / f"{tool}.neutral.json.gz").read_bytes()))


def shifted(index, text, folder):
    """The golden with all times moved by index * 100 ms; of run 0 the last node takes 1 ms."""
    moved = re.sub(r"all_start_micros: (\d+)", lambda m: f"all_start_micros: {int(m[1]) + index * 100000}", text)
    if index == 0:
        moved = moved.replace("all_end_rel_micros: 1 ", "all_end_rel_micros: 1000 ")
    path = folder / f"step_{index}.pbtxt"
    path.write_text(moved)
    return path


@pytest.fixture
def five(tmp_path):
    return [shifted(i, GOLDEN.read_text(), tmp_path) for i in range(5)]


# --- the golden of two devices: SHA-256 of what tensorflow.python.client.timeline (2.21) wrote ---


@pytest.mark.parametrize("flags, size, digest", [
    ([], 6019, "4f1a6f6089a2cf6bed6b741bbd4d30ab4f1748433fb8bfc9c79174113fb91d8c"),
    (["--show-memory"], 13620, "e6622fcb402a1ce777451a8b5bfe718ad9cedf0df4773caa17e232405e0aba4f"),
])
def test_compat_equals_tensorflow(flags, size, digest):
    out = run("convert", GOLDEN, "--compat", "tf", *flags, "-o", "-")
    assert (len(out), hashlib.sha256(out).hexdigest()) == (size, digest)


@pytest.mark.parametrize("op_time, mm, relu", [
    ("schedule", (1022, 3, 0), (1026, 2, 0)),
    ("gpu", (1027, 20, 0), (1047, 4, 1)),
    ("all", (1022, 25, 0), (1026, 25, 1)),
])
def test_time_of_ops_with_kernels(op_time, mm, relu):
    slices = of_phase(events("convert", GOLDEN, "--compat", "tf", "--op-time", op_time), "X")
    found = {e["name"]: (e["ts"], e["dur"], e["tid"]) for e in slices if e["name"] in ("MatMul", "Relu")}
    assert found == {"MatMul": mm, "Relu": relu}


def test_merge_keeps_flows_apart_and_devices_together(five):
    merged = events("merge", *five, "--lanes", "tf")
    assert len(of_phase(merged, "X")) == 55
    starts, ends = of_phase(merged, "s"), of_phase(merged, "f")
    assert len({e["id"] for e in starts}) == len(starts) == 15
    assert sorted(e["id"] for e in ends) == sorted(e["id"] for e in starts)
    separators = [e for e in of_phase(merged, "i") if e.get("s") == "g"]
    assert [e["name"] for e in separators] == [f"run {i}" for i in range(5)]
    assert [e["args"].get("warm-up", False) for e in separators] == [True, False, False, False, False]
    assert len([e for e in of_phase(merged, "M") if e["name"] == "process_name"]) == 7
    assert min(e["ts"] for e in of_phase(merged, "X")) == 0, "times of a merge begin at 0"
    assert max(e["ts"] for e in of_phase(merged, "X")) == 400048, "wall layout keeps the gaps"


def test_sequence_closes_the_gaps(five):
    merged = events("merge", *five, "--layout", "sequence")
    separators = [e for e in of_phase(merged, "i") if e.get("s") == "g"]
    gap = (1040 + 4 * 51) * 0.02
    wanted = [0, 1040 + gap] + [1040 + gap + k * (51 + gap) for k in (1, 2, 3)]
    assert [float(e["ts"]) for e in separators] == pytest.approx(wanted, abs=0.01)
    assert separators[1]["name"] == "run 1 · 51.00 us"


def test_stack_sets_every_run_to_zero(five):
    merged = events("merge", *five, "--layout", "stack")
    assert {e["ts"] for e in of_phase(merged, "i")} == {0}
    labels = [e["args"]["labels"] for e in of_phase(merged, "M") if e["name"] == "process_labels"]
    assert "run 2 (step_2)" in labels


def test_compat_merge_numbers_devices_once_and_ids_never_twice(five):
    merged = events("merge", *five, "--compat", "tf")
    assert len(list(of_phase(merged, "M"))) == 7
    ids = [e["id"] for e in of_phase(merged, "s")]
    assert sorted(ids) == list(range(15))


def test_statistics_leave_out_the_warm_up(five):
    stats = json.loads(run("stats", *five, "--by", "op", "--json"))
    assert [r["span_ns"] for r in stats["runs"]] == [1040000, 51000, 51000, 51000, 51000]
    assert [r["warmup"] for r in stats["runs"]] == [True, False, False, False, False]
    rows = {r["key"]: r for r in stats["rows"]}
    assert (rows["MatMul"]["count"], rows["MatMul"]["total_ns"], rows["MatMul"]["mean_ns"]) == (4, 12000, 3000.0)
    assert (rows["Const"]["count"], rows["Const"]["total_ns"]) == (8, 60000)
    everything = json.loads(run("stats", *five, "--by", "op", "--json", "--include-warmup"))
    assert {r["key"]: r["count"] for r in everything["rows"]}["MatMul"] == 5


def test_diff_fails_a_slower_capture(five, tmp_path):
    run("diff", five[1], five[2], "--fail-above", "5")
    assert b"(+1939.2 %)" in run("diff", five[1], five[0], "--fail-above", "5", code=4)
    both = tmp_path / "both.json"
    run("diff", five[1], five[2], "-o", both)
    assert len(of_phase(json.loads(both.read_text())["traceEvents"], "X")) == 22


def test_cut_keeps_what_reaches_into_the_part():
    part = events("cut", GOLDEN, "--from", "22us", "--to", "24us")
    assert sorted(e["args"]["name"] for e in of_phase(part, "X")) == ["mm"]
    around = events("cut", GOLDEN, "--around", "sgemm")
    assert {"mm", "relu"} <= {e["args"]["name"] for e in of_phase(around, "X")}


def test_filter():
    assert len(of_phase(events("convert", GOLDEN, "--filter", "op=Const and dur>5us"), "X")) == 1
    assert len(of_phase(events("convert", GOLDEN, "--filter", "not (lane~stream or name~Const)"), "X")) == 6
    assert b"fields are name" in subprocess.run([SONDE, "timeline", "convert", GOLDEN, "-o", "-", "--filter", "colour=red"],
                                                capture_output=True).stderr


def test_other_forms(tmp_path):
    rows = run("convert", GOLDEN, "--to", "csv", "-o", "-").decode().splitlines()
    assert len(rows) == 12 and rows[0].startswith("run,process,lane,name")
    folded = run("convert", GOLDEN, "--to", "folded", "-o", "-").decode()
    assert "MatMul 3000\n" in folded
    out = tmp_path / "t.json.gz"
    run("convert", GOLDEN, "-o", out, "--verify")
    assert len(of_phase(json.loads(gzip.decompress(out.read_bytes()))["traceEvents"], "X")) == 11


def test_wrong_usage_and_unreadable_input(tmp_path):
    assert subprocess.run([SONDE, "timeline", "convert", GOLDEN], capture_output=True).returncode == 2
    assert subprocess.run([SONDE, "timeline", "melt", GOLDEN], capture_output=True).returncode == 2
    (tmp_path / "no.pb").write_bytes(b"not a capture")
    bad = subprocess.run([SONDE, "timeline", "info", tmp_path / "no.pb"], capture_output=True)
    assert bad.returncode == 1 and b"no.pb" in bad.stderr


def test_every_command_has_help():
    for command in ("convert", "merge", "stats", "diff", "info", "cut", "view"):
        assert f"sonde timeline {command}".encode() in run(command, "--help")
    assert b"Exit codes" in run("--help")


# --- recorded captures ---


@needs_samples
@pytest.mark.parametrize("sample", TRACED)
@pytest.mark.parametrize("flags, ending", [([], ""), (["--show-memory"], "_mem")])
def test_recorded_timelines_byte_for_byte(sample, flags, ending):
    capture, stem = sample.split("/")
    source = packed(SAMPLES / "B" / capture / f"{stem}.run_metadata.pb")
    recorded = content(SAMPLES / "B" / capture / f"timeline_{stem[-1]}{ending}.json")
    assert run("convert", source, "--compat", "tf", *flags, "-o", "-") == recorded


@needs_samples
@pytest.mark.parametrize("sample", TRACED)
def test_run_metadata_as_decoded(sample):
    capture, stem = sample.split("/")
    golden = neutral(capture, f"run_metadata~{stem}")["tables"]["nodes"]
    ours = of_phase(events("convert", packed(SAMPLES / "B" / capture / f"{stem}.run_metadata.pb")), "X")
    names = {(e["pid"]): e["args"]["name"] for e in of_phase(events(
        "convert", packed(SAMPLES / "B" / capture / f"{stem}.run_metadata.pb")), "M") if e["name"] == "process_name"}
    def row(e):
        args = e["args"]
        inputs = ", ".join(args[f"input{i}"] for i in range(len(args)) if f"input{i}" in args)
        return (names[e["pid"]], args["name"], args.get("label", f"{args['name']} = {args['op']}({inputs})"), args.get("thread_id", 0),
                int(e["ts"]), args.get("op_start_rel_us", 0), args.get("op_end_rel_us", 0), args.get("allocator_bytes", 0),
                args.get("outputs", 0), args.get("output_bytes", 0))
    wanted = [tuple(r[:7] + r[8:]) for r in golden["rows"]]
    assert Counter(row(e) for e in ours) == Counter(wanted)
    ends = sorted(r[7] for r in golden["rows"])
    assert all(abs(a - b) < 1 for a, b in zip(sorted(e["dur"] for e in ours), ends))


@needs_samples
def test_recorded_merge_of_five_runs():
    folder = SAMPLES / "B" / "tf1_merged"
    sources = [packed(folder / f"run_{i}.run_metadata.pb") for i in range(5)]
    recorded = json.loads(content(folder / "timeline_merged_5_runs.json"))["traceEvents"]
    ours = events("merge", *sources, "--compat", "tf")
    # The recipe repeats flow ids in every run; everything else is the same.
    def bare(all_events):
        return [{k: v for k, v in e.items() if k != "id"} for e in all_events]
    assert bare(ours) == bare(recorded)
    ids = [e["id"] for e in of_phase(ours, "s")]
    assert len(set(ids)) == len(ids) and len({e["id"] for e in of_phase(recorded, "s")}) < len(ids)
    stats = json.loads(run("stats", *sources, "--json"))
    spans = []
    for source in sources:
        one = of_phase(events("convert", source, "--compat", "tf"), "X")
        spans.append(max(e["ts"] + e["dur"] for e in one) - min(e["ts"] for e in one))
    assert [r["span_ns"] / 1000 for r in stats["runs"]] == pytest.approx(spans, abs=2)
    assert stats["runs"][0]["warmup"] == (spans[0] > 1.5 * sorted(spans[1:])[1:3][0])


@needs_samples
def test_event_file_with_three_traced_runs(tmp_path):
    folder = SAMPLES / "B" / "tf1_event_file"
    info = json.loads(run("info", folder, "--json"))
    assert [(s["name"], s["slices"]) for s in info["sources"]] == [("step000", 74), ("step001", 74), ("step002", 74)]
    assert len(of_phase(events("convert", folder, "--tag", "step00[12]"), "X")) == 148
    profile = subprocess.run([SONDE, "profile", folder, "--json"], capture_output=True)
    report = json.loads(profile.stdout)
    assert next(f["value"] for f in report["figures"] if f["id"] == "steps") == 3


@needs_samples
@pytest.mark.parametrize("capture", ["tf1_timeline_cpu", "tf1_timeline_gpu"])
def test_timelines_of_2017_keep_every_slice(capture):
    for path in sorted((SAMPLES / "A" / capture).glob("*.json.gz")):
        recorded = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
        ours = events("convert", path, "--absolute")
        def key(e):
            return e["name"], e.get("cat"), e["ts"], e["dur"], json.dumps(e.get("args", {}), sort_keys=True)
        assert Counter(map(key, of_phase(ours, "X"))) == Counter(map(key, of_phase(recorded, "X"))), path.name
