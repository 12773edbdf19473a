"""PyTorch captures: synthetic ones whose totals the generator knows exactly, in every dialect of the format; steps and
attribution of real ones against figures worked out by hand; ranks together; findings that name the line to change."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build" / "release" / "sonde"))
SHARED = Path(os.environ.get("SONDE_SHARED", ROOT.parent / "shared"))
GENERATOR = ROOT / "tests" / "profile" / "make_synth_trace.py"
SAMPLES = SHARED / "profile_samples"

needs_samples = pytest.mark.skipif(not SAMPLES.exists(), reason="the sample captures are not on this machine")


def report(path, tool, *flags):
    run = subprocess.run([SONDE, "profile", str(path), "--tool", tool, "--json", *flags], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def rows(r, table):
    t = next(t for t in r["tables"] if t["id"] == table)
    names = [c["id"] for c in t["columns"]]
    return [dict(zip(names, row)) for row in t["rows"]]


def sample(name):
    return next(SAMPLES / s / name for s in ("A", "B") if (SAMPLES / s / name).is_dir())


def synthetic(folder, *flags, name="w.1.pt.trace.json"):
    expected = folder / (name + ".expect")
    subprocess.run([sys.executable, GENERATOR, "-o", folder / name, "--expect", expected, *map(str, flags)], check=True, stdout=subprocess.DEVNULL)
    return json.loads(expected.read_text())


@pytest.mark.parametrize("era", [["modern"], ["abs"], ["abs", "--wrong-ext"], ["legacy"]], ids=lambda e: "".join(e))
def test_synthetic_totals_are_exact_in_every_dialect(tmp_path, era):
    expected = synthetic(tmp_path, "--events", 3000, "--steps", 3, "--world", 1, "--era", *era)
    overview = report(tmp_path, "torch.overview")
    for mine, step in zip(rows(overview, "steps"), expected["overview"]["steps"], strict=True):
        for role in ("Kernel", "Memcpy", "Memset", "Runtime", "DataLoader"):
            assert mine[role] * 1000 == pytest.approx(step[role], abs=0.01), role
        # The generator counts operators; Sonde counts Python frames as work too, and the rest is Other.
        assert (mine["CPU Exec"] + mine["Other"]) * 1000 == pytest.approx(step["CPU Exec"] + step["Other"], abs=0.01)
        assert mine["CPU Exec"] * 1000 >= step["CPU Exec"] - 0.01
    device = rows(overview, "gpus")[0]
    assert device["utilization"] == pytest.approx(expected["overview"]["gpu_utilization_percent"], rel=1e-9)
    operators = {r["name"]: r for r in rows(report(tmp_path, "torch.operator"), "operators")}
    for name, total in expected["operators"].items():
        mine = operators[name]
        assert mine["calls"] == total["calls"], name
        assert mine["host_total_duration"] * 1000 == pytest.approx(total["host_total_ns"], abs=0.01), name
        assert mine["host_self_duration"] * 1000 == pytest.approx(total["host_self_ns"], abs=0.01), name
        assert mine["device_self_duration"] * 1000 == pytest.approx(total["device_self_ns"], abs=0.01), name
    kernels = {r["Name"]: r for r in rows(report(tmp_path, "torch.kernel"), "kernels")}
    for name, total in expected["kernels"].items():
        assert kernels[name]["Calls"] == total["calls"], name
        assert kernels[name]["Total Duration (us)"] * 1000 == pytest.approx(total["sum_ns"], abs=0.01), name


@needs_samples
@pytest.mark.parametrize(
    ("capture", "step", "parts"),
    [
        ("torch_h100_bert", "6", {"total": 4426.114, "Kernel": 307.197, "Memcpy": 2.240, "Runtime": 380.575, "CPU Exec": 3736.102, "Other": 0}),
        ("torch_mi300_bert", "6", {"total": 4007.334, "Kernel": 388.344, "Memcpy": 2.404, "Runtime": 326.916, "CPU Exec": 3289.670, "Other": 0}),
        ("torch_nccl_meta", "4", {"total": 222442.191, "Kernel": 38506.406, "Memcpy": 758.032, "Memset": 127.556, "Communication": 10399.972,
                                  "Runtime": 10161.982, "CPU Exec": 162258.090, "Other": 230.153}),
        ("torch_mi300_resnet_ckpt", "16", {"total": 18982.928, "Kernel": 6354.816, "Memcpy": 562.195, "Memset": 109.013,
                                           "Communication": 11874.606, "Runtime": 82.298, "CPU Exec": 0, "Other": 0}),
        # Nothing marked: one step, from the first annotation (14.76 us before the first Python frame) to the last kernel.
        ("torch_vllm_decode", "0", {"total": 19114.059, "Kernel": 10674.517, "Memcpy": 43.191, "Runtime": 586.547, "CPU Exec": 1822.051,
                                    "Other": 5987.753}),
    ],
)
def test_steps_reach_to_the_end_of_their_device_work(capture, step, parts):
    mine = next(r for r in rows(report(sample(capture), "torch.overview"), "steps") if r["Step"] == step)
    for role, wanted in parts.items():
        # The figures were worked out in doubles of microseconds, which are good to 0.03 us here.
        assert mine[role] == pytest.approx(wanted, abs=0.03), role


@needs_samples
@pytest.mark.parametrize(
    ("capture", "operator", "wanted_us"),
    [
        ("torch_h100_bert", "aten::addmm", 197.6),
        ("torch_h100_bert", "aten::native_layer_norm", 30.9),
        ("torch_mi300_bert", "aten::addmm", 174.1),
        ("torch_nccl_meta", "record_param_comms", 46876.5),
        ("torch_nccl_meta", "aten::convolution_backward", 39529.1),
        ("torch_b200_eager", "vllm::moe_forward", 6078.4),
    ],
)
def test_device_time_is_tied_to_the_operator_that_launched_it(capture, operator, wanted_us):
    mine = next(r for r in rows(report(sample(capture), "torch.operator"), "operators") if r["name"] == operator)
    assert mine["device_self_duration"] == pytest.approx(wanted_us, abs=0.06)


def test_a_call_inside_a_child_is_taken_off_the_child_alone(tmp_path):
    """NCCL's runtime calls lie inside the nccl: annotation but carry the id of record_param_comms around it."""
    host = {"ph": "X", "pid": 7, "tid": 7}
    events = [
        {**host, "cat": "cpu_op", "name": "record_param_comms", "ts": 100, "dur": 190, "args": {"External id": 2}},
        {**host, "cat": "user_annotation", "name": "nccl:all_reduce", "ts": 118, "dur": 156, "args": {"External id": 3}},
        {**host, "cat": "cuda_runtime", "name": "cudaStreamIsCapturing", "ts": 104, "dur": 5, "args": {"External id": 2, "correlation": 11}},
        {**host, "cat": "cuda_driver", "name": "cuLaunchKernelEx", "ts": 207, "dur": 40, "args": {"External id": 2, "correlation": 12}},
        {"ph": "X", "cat": "kernel", "name": "ncclDevKernel", "pid": 0, "tid": 7, "ts": 260, "dur": 50,
         "args": {"External id": 2, "correlation": 12, "device": 0, "stream": 7}},
    ]
    (tmp_path / "w.pt.trace.json").write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}))
    mine = {r["name"]: r for r in rows(report(tmp_path, "torch.operator"), "operators")}["record_param_comms"]
    assert mine["host_self_duration"] == 190 - 156 - 5
    assert mine["device_self_duration"] == 50


def test_ranks_of_a_folder_are_one_session(tmp_path):
    for rank in (0, 1):
        synthetic(tmp_path, "--events", 20000, "--steps", 3, "--era", "legacy", "--world", 2, "--rank", rank, name=f"host_{rank}.1.pt.trace.json")
    r = report(tmp_path, "torch.distributed")
    mean = {row["worker"]: row for row in rows(r, "overlap_mean")}
    # Step by step these are the recorded figures of the plug-in on the same two files.
    assert [int(mean["host_0"][c]) for c in ("computation", "overlap", "communication", "other")] == [17137, 4648, 118, 4477]
    assert [int(mean["host_1"][c]) for c in ("computation", "overlap", "communication", "other")] == [16661, 4433, 125, 4529]
    waits = {(row["worker"], row["step"]): row for row in rows(r, "waits")}
    assert [int(waits["host_0", "0"][c]) for c in ("transfer", "waiting")] == [4230, 502]
    assert [int(waits["host_1", "2"][c]) for c in ("transfer", "waiting")] == [4100, 109]
    calls = {row["worker"]: row for row in rows(r, "collectives")}
    assert (calls["host_0"]["calls"], calls["host_0"]["bytes"], calls["host_0"]["latency"]) == (36, 288000000, 14300)
    ranks = report(tmp_path, "torch.ranks")
    assert [row["ranks"] for row in rows(ranks, "steps")] == [2, 2, 2]
    assert {row["rank"] for row in rows(ranks, "stragglers")} == {"host_0", "host_1"}


@needs_samples
def test_a_slow_data_loader_is_the_first_finding_and_names_the_line():
    first = next(f for f in report(sample("torch_resnet50_w0"), "overview_page", "--span", "1")["findings"] if f["fired"])
    assert first["id"] == "IN-WAIT"
    assert first["numbers"]["percent"] == pytest.approx(33.71, abs=0.01)  # of the median step; the mean is 33.37
    assert "num_workers" in first["change"]["diff"] and "pin_memory=True" in first["change"]["diff"]


@needs_samples
def test_compare_of_two_pytorch_captures_speaks_of_steps_kernels_and_operators():
    run = subprocess.run([SONDE, "profile", "--compare", str(sample("torch_resnet50_w0")), str(sample("torch_resnet50_w4")), "--json"],
                         capture_output=True, text=True)
    r = json.loads(run.stdout)
    parts = {row["name"]: row for row in rows(r, "parts")}
    assert parts["Input"]["now"] < parts["Input"]["before"] / 4
    assert rows(r, "kernels") and rows(r, "host_ops")


@needs_samples
def test_notes_of_the_importer_are_no_lost_data():
    found = [f["id"] for f in report(sample("torch_h100_bert"), "torch.overview")["findings"] if f["fired"]]
    assert "TINY-KERNELS" in found and "DATA-LOSS" not in found
