"""What a capture shows: nesting, critical path, ranks, memory snapshots, exports of Nsight Systems, and comparisons that
know noise. Expected figures are computed here from the files themselves, or known from how they were made."""

import gzip
import itertools
import json
import os
import pickle
import sqlite3
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build" / "release" / "sonde"))
DATA = ROOT / "tests" / "data" / "profile"
MAKE = ROOT / "tests" / "profile"
MIB = 1 << 20


def sonde(*arguments):
    return subprocess.run([SONDE, "profile", *map(str, arguments)], capture_output=True, text=True)


def report(path, tool, *more):
    run = sonde(path, "--tool", tool, "--json", *more)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def query(path, sql):
    run = sonde(path, "--sql", sql, "--json")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)["tables"][0]["rows"]


def figure(r, name):
    return next(f["value"] for f in r["figures"] if f["id"] == name)


def rows(r, table):
    found = next(t for t in r["tables"] if t["id"] == table)
    return [dict(zip([c["id"] for c in found["columns"]], row, strict=True)) for row in found["rows"]]


def made(script, path, *more):
    subprocess.run([sys.executable, MAKE / script, path, *more], check=True)
    return path


# --- nesting ---


def contained_depth(name):
    """How deep slices of a thread nest when a slice stands in what contains it whole."""
    events = json.loads(gzip.decompress((DATA / name).read_bytes()))["traceEvents"]
    threads = defaultdict(list)
    for e in events:
        if e.get("ph") == "X":
            threads[e["pid"], e["tid"]].append((float(e["ts"]), -float(e["dur"])))
    deepest = 0
    for slices in threads.values():
        stack = []
        for begin, length in sorted(slices):
            while stack and stack[-1] < begin - length - 1e-2:
                stack.pop()
            stack.append(begin - length)
            deepest = max(deepest, len(stack))
    return deepest


@pytest.mark.parametrize("name", ["torch_cpu_full.worker0.pt.trace.json.gz", "torch_cpu_modules.worker0.pt.trace.json.gz"])
def test_python_frames_nest_by_containment_and_draw_no_staircase(name):
    steps = query(DATA / name, "select name, depth from slices where name like 'ProfilerStep#%' order by ts")
    depths = {depth for _, depth in steps if depth is not None}
    assert len(depths) == 1, f"each step stands on the same row: {steps}"
    deepest = query(DATA / name, "select max(depth) from slices")[0][0]
    assert deepest + 1 <= contained_depth(name)


# --- critical path ---


def check_path(r):
    path = rows(r, "path")
    assert path, r["missing"]
    for before, after in itertools.pairwise(path):
        assert after["start_ms"] == pytest.approx(before["start_ms"] + before["dur_ms"], abs=1e-6), "the path has a hole"
    whole = sum(part["dur_ms"] for part in path)
    assert whole == pytest.approx(figure(r, "length"), rel=1e-9)
    assert sum(kind["time"] for kind in rows(r, "kinds")) == pytest.approx(whole, rel=1e-9)
    assert sum(kind["percent"] for kind in rows(r, "kinds")) == pytest.approx(100, rel=1e-9)
    return path


def test_critical_path_goes_from_host_over_launch_to_the_device():
    path = check_path(report(DATA / "made_gpu.worker0.pt.trace.json.gz", "critical_path"))
    kinds = {part["kind"] for part in path}
    assert {"Host", "Launch"} <= kinds and kinds & {"Kernel", "Collective"}, kinds


@pytest.mark.parametrize("name", ["torch_cpu_full.worker0.pt.trace.json.gz", "tf_loop_input_bound.xplane.pb.gz",
                                  "jax_cpu_mlp.xplane.pb.gz", "made_gpu.xplane.pb.gz"])
def test_critical_path_has_no_hole_in_any_kind_of_capture(name):
    check_path(report(DATA / name, "critical_path"))


def two_ranks(folder):
    for rank in (0, 1):
        name = f"torch_gloo_2ranks.worker{rank}.pt.trace.json.gz"
        (folder / f"worker{rank}.pt.trace.json.gz").write_bytes((DATA / name).read_bytes())
    return folder


def test_critical_path_of_ranks_goes_through_collectives_to_the_late_one(tmp_path):
    r = report(two_ranks(tmp_path), "critical_path")
    path = check_path(r)
    assert any("collectives" in text for text in r["inferred"])
    assert "Collective" in {part["kind"] for part in path}
    assert {part["host"] for part in path} == {"worker0", "worker1"}


# --- ranks ---


def test_ranks_say_who_waits_in_one_sentence_and_one_picture(tmp_path):
    r = report(two_ranks(tmp_path), "torch.ranks")
    own = rows(r, "own_time")
    steps = {row["step"] for row in own}
    assert len(own) == 2 * len(steps)
    for row in own:
        assert row["own"] + row["waited"] == pytest.approx(row["length"])
        assert row["own"] >= 0 and row["waited"] >= 0
    assert r["findings"][0]["id"] == "ARRIVALS"
    arrivals = rows(r, "arrivals")
    for row in arrivals:
        late = [row["late0"], row["late1"]]
        assert min(late) == 0 and max(late) == pytest.approx(row["spread"])
        assert row["last"] == f"worker{late.index(max(late))}" or row["spread"] == 0


# --- memory snapshots ---


def expected_peak(path):
    data = pickle.loads(path.read_bytes())
    now = peak = 0
    sizes = {}
    for event in data["device_traces"][0]:
        if event["action"] == "alloc":
            sizes[event["addr"]] = event["size"]
            now += event["size"]
        elif event["action"] == "free_completed":
            now -= sizes.pop(event["addr"])
        peak = max(peak, now)
    return peak


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_memory_snapshot_of_pytorch(tmp_path, protocol):
    path = made("make_memory_snapshot.py", tmp_path / "memory.pickle", "--protocol", str(protocol))
    r = report(path, "memory_snapshot")
    assert figure(r, "peak") == expected_peak(path)
    assert figure(r, "allocated") == (4 * 8 + 5 * 3) * MIB
    assert figure(r, "reserved") == 512 * MIB
    stacks = {row["site"]: row for row in rows(r, "stacks")}
    leak = stacks["/srv/train/train.py(71): remember_losses"]
    assert leak["end_bytes"] == 15 * MIB and leak["count"] == 5
    assert stacks["/srv/train/train.py(41): forward"]["end_bytes"] == 0, "the place named is the program's own, not torch's"
    assert max(row["allocated"] for row in rows(r, "timeline")) == figure(r, "peak")
    for row in rows(r, "timeline"):
        assert sum(value for key, value in row.items() if key.startswith("site")) == row["allocated"]
    bands = r["document"]["bands"]
    assert sum(band["bytes"] for band in bands if band["alive"]) == figure(r, "allocated")
    assert r["document"]["flame"][0]["bytes"] == figure(r, "peak")


def test_memory_older_than_the_history_and_requests_that_failed(tmp_path):
    path = made("make_memory_snapshot.py", tmp_path / "memory.pickle", "--older", "--oom")
    r = report(path, "memory_snapshot")
    assert figure(r, "peak") == expected_peak(path) + 32 * MIB
    assert rows(r, "failures")[0]["asked"] == 4096 * MIB
    assert "found no memory" in r["findings"][0]["text"]


class Attack:
    def __reduce__(self):
        return os.system, ("touch " + os.environ["SONDE_ATTACK"],)


def test_a_pickle_that_calls_code_is_refused_and_not_run(tmp_path, monkeypatch):
    touched = tmp_path / "touched"
    monkeypatch.setenv("SONDE_ATTACK", str(touched))
    path = tmp_path / "memory.pickle"
    path.write_bytes(pickle.dumps({"segments": [Attack()], "device_traces": []}))
    run = sonde(path, "--tool", "memory_snapshot")
    assert run.returncode != 0 and "calls code, which is never done" in run.stderr, run.stderr
    assert not touched.exists()


def test_a_damaged_snapshot_is_an_error_that_names_the_file(tmp_path):
    path = made("make_memory_snapshot.py", tmp_path / "memory.pickle")
    path.write_bytes(path.read_bytes()[:-200])
    run = sonde(path, "--tool", "memory_snapshot")
    assert run.returncode != 0 and "memory.pickle" in run.stderr and "byte" in run.stderr


def test_device_memory_of_jax():
    r = report(DATA / "jax_device_memory.prof", "memory_snapshot")
    stacks = rows(r, "stacks")
    assert figure(r, "peak") == sum(row["peak_bytes"] for row in stacks) > 0
    sites = " ".join(row["site"] for row in stacks)
    assert "hold_batches" in sites and "build_weights" in sites, sites
    held = sum(row["peak_bytes"] for row in stacks if "hold_batches" in row["site"])
    assert held == 8 * 128 * 1024 * 4


# --- Nsight Systems ---


def test_export_of_nsight_systems(tmp_path):
    path = made("make_nsys.py", tmp_path / "made.sqlite")
    before = path.read_bytes()
    assert query(path, "select count(*) from slices where category = 'kernel'")[0][0] == 20
    names = dict(query(path, "select name, count(*) from slices group by name"))
    assert names["step"] == 4 and names["cudaLaunchKernel"] == 20 and names["Memcpy HtoD"] == 4
    kinds = {part["kind"] for part in check_path(report(path, "critical_path"))}
    assert {"Host", "Launch", "Kernel"} <= kinds
    kernels = rows(report(path, "kernel_stats"), "kernels")
    assert sum(row["occurrences"] for row in kernels) == 20
    for row in kernels:
        assert (row["registers_per_thread"], row["shmem_bytes"], row["grid_dim"], row["block_dim"]) == (32, 1024, "16,1,1", "256,1,1")
        assert row["theoretical_occupancy"] == 100
    environment = next(t for t in report(path, "overview_page")["tables"] if t["id"] == "run_environment")["properties"]
    assert environment["device_type"] == "Nvidia GPU (Ampere)"
    assert environment["device_core_count"] == "1", "a GPU that ran nothing is none of the program's"
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["made.sqlite"], "nothing is written"


def test_a_database_of_somebody_else_is_no_capture(tmp_path):
    path = tmp_path / "nsys_other.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE runs (id INTEGER)")
    db.close()
    run = sonde(path)
    assert run.returncode != 0 and "Nsight Systems" in run.stderr


# --- comparisons ---


def loop(path, lengths):
    """A capture of PyTorch whose steps take so many ms."""
    at, events = 1000.0, []
    for i, ms in enumerate(lengths):
        common = {"ph": "X", "pid": 1, "tid": 1}
        events.append({**common, "cat": "user_annotation", "name": f"ProfilerStep#{i}", "ts": at, "dur": ms * 1000})
        events.append({**common, "cat": "cpu_op", "name": "aten::mm", "ts": at + 10, "dur": ms * 1000 - 20})
        at += ms * 1000 + 5
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return path


def test_a_difference_within_the_noise_is_told_as_none(tmp_path):
    noisy = loop(tmp_path / "a.pt.trace.json", [10, 16, 9, 15, 10, 14, 9, 13])
    also = loop(tmp_path / "b.pt.trace.json", [11, 17, 10, 15, 12, 14, 10, 14])
    run = sonde("--compare", noisy, also, "--json")
    r = json.loads(run.stdout)
    assert r["findings"][0]["text"].startswith("No difference beyond noise")
    assert figure(r, "change_low") < 0 < figure(r, "change_high")
    assert run.returncode == 2, "slower by more than 5 %, but within the noise: it cannot be told"
    assert sonde("--compare", noisy, noisy).returncode == 0
    assert sonde("--compare", noisy, also, "--max-slowdown", "30").returncode == 0


def test_a_gate_without_a_comparison_is_an_error(tmp_path):
    run = sonde(loop(tmp_path / "a.pt.trace.json", [10, 10, 10]), "--max-slowdown", "5")
    assert run.returncode == 2 and "--compare" in run.stderr


def test_a_difference_beyond_the_noise_fails_the_gate(tmp_path):
    fast = loop(tmp_path / "a.pt.trace.json", [10, 10.1, 9.9, 10, 10.1, 10])
    slow = loop(tmp_path / "b.pt.trace.json", [11, 11.1, 10.9, 11, 11.1, 11])
    run = sonde("--compare", fast, slow, "--json")
    assert run.returncode == 1
    assert json.loads(run.stdout)["findings"][0]["text"].startswith("Slower")
    assert sonde("--compare", slow, fast).returncode == 0


def test_occupancy_names_what_limits_a_kernel():
    kernels = rows(report(DATA / "made_gpu.worker0.pt.trace.json.gz", "kernel_stats"), "kernels")
    assert kernels
    for row in kernels:
        if row["theoretical_occupancy"] is None:
            continue
        assert 0 < row["theoretical_occupancy"] <= 100
        assert bool(row["occupancy_limiter"]) == (row["theoretical_occupancy"] < 100)


def test_launch_shapes_of_a_file_with_a_number_on_each_line(tmp_path):
    args = {"grid": [64, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 0, "device": 0, "stream": 7}
    capture = {"schemaVersion": 1,
               "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB", "computeMajor": 8, "computeMinor": 0, "numSms": 108}],
               "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 10, "dur": 5, "args": args}]}
    for indent in (None, 2):
        path = tmp_path / f"{indent}.pt.trace.json"
        path.write_text(json.dumps(capture, indent=indent))
        kernel = rows(report(path, "kernel_stats"), "kernels")[0]
        assert (kernel["grid_dim"], kernel["block_dim"], kernel["theoretical_occupancy"]) == ("64,1,1", "128,1,1", 100), indent


# --- how much of the device's arithmetic the model uses ---


def matrix_products(path, *, shapes=True, device="NVIDIA A100-SXM4-40GB", step_ms=2.0, extra_us=0.0):
    """One step with three products of 1024³ in 16 bits, and perhaps a kernel on Tensor Cores that says nothing."""
    events = [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 1000, "dur": step_ms * 1000}]

    def call(i, name, dims, us):
        at = 1100 + 200 * i
        args = {"External id": i, "Input Dims": dims, "Input type": ["c10::BFloat16"] * len(dims)} if dims else {"External id": i}
        events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": at, "dur": 50, "args": args})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at + 10, "dur": 5,
                       "args": {"correlation": 100 + i, "External id": i}})
        events.append({"ph": "X", "cat": "kernel", "name": "ampere_bf16_s16816gemm_bf16_128x128", "pid": 0, "tid": 7, "ts": at + 20,
                       "dur": us, "args": {"correlation": 100 + i, "External id": i, "device": 0, "stream": 7}})

    for i in range(3):
        call(i, "aten::mm", [[1024, 1024], [1024, 1024]] if shapes else None, 20)
    if extra_us:
        call(3, "my::product", None, extra_us)
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events, "deviceProperties": [
        {"id": 0, "name": device, "computeMajor": 8, "computeMinor": 0, "numSms": 108}]}))
    return path


def figures(r):
    return {f["id"]: f["value"] for f in r["figures"]}


def test_model_flops_utilisation_is_arithmetic_over_peak_and_time(tmp_path):
    r = report(matrix_products(tmp_path / "a.pt.trace.json"), "overview_page")
    rate = 3 * 2 * 1024**3 / 1e9 / 2e-3
    assert figure(r, "model_flop_rate") == pytest.approx(rate, rel=1e-6)
    assert figure(r, "mfu") == pytest.approx(100 * rate / 312_000, rel=1e-6)
    roof = rows(report(tmp_path / "a.pt.trace.json", "roofline_model"), "roofline")
    product = next(row for row in roof if row["category"] == "aten::mm")
    assert product["measured_flop_rate"] == pytest.approx(3 * 2 * 1024**3 / 1e9 / 60e-6, rel=1e-6)
    assert product["hbm_operational_intensity"] == pytest.approx(2 * 1024**3 / (3 * 1024**2 * 2), rel=1e-6)


@pytest.mark.parametrize("unknown", [{"shapes": False}, {"device": "Some GPU"}, {"extra_us": 50.0}])
def test_no_utilisation_where_arithmetic_or_peak_is_not_known(tmp_path, unknown):
    r = report(matrix_products(tmp_path / "a.pt.trace.json", **unknown), "overview_page")
    assert "mfu" not in figures(r)


def test_utilisation_of_a_compiled_program_is_that_of_its_roofline():
    path = DATA / "made_gpu.xplane.pb.gz"
    program = next(row for row in rows(report(path, "roofline_model"), "roofline") if row["category"] == "Program")
    found = figures(report(path, "overview_page"))
    if program["measured_flop_rate"] > 0:
        assert found["mfu"] == pytest.approx(100 * program["compute_efficiency"], rel=1e-6)
    else:
        assert "mfu" not in found


# --- where memory lay at a moment ---


def moment(path, *more):
    return report(path, "memory_snapshot", *more)["document"]["moment"]


def test_segments_at_a_moment_hold_what_was_allocated_then(tmp_path):
    path = made("make_memory_snapshot.py", tmp_path / "memory.pickle")
    r = report(path, "memory_snapshot")
    peak = moment(path)
    assert peak["is_peak"] and sum(block["bytes"] for block in peak["blocks"]) == figure(r, "peak")
    for block in peak["blocks"]:
        assert block["offset"] >= 0
        assert block["offset"] + block["bytes"] <= peak["segments"][block["segment"]]["bytes"]
    for at in ("0", "30", "1e9", "nonsense"):
        now = moment(path, "--param", f"time_ms={at}")
        held = [b for b in r["document"]["bands"] if b["begin_ms"] <= now["time_ms"] and (b["alive"] or b["end_ms"] > now["time_ms"])]
        assert sum(b["bytes"] for b in now["blocks"]) == sum(b["bytes"] for b in held), at
    end = moment(path, "--param", "time_ms=1e6")
    assert sum(b["bytes"] for b in end["blocks"]) == figure(r, "allocated")
