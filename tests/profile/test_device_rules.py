"""Rules about devices on made captures of PyTorch: each fires on the capture that has its cause and nothing else, and is
quiet on one whose device is kept busy. And every rule of the program stands in docs/findings.md."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build" / "release" / "sonde"))
STEP_US = 10_000
STEPS = 4
GEMM = "ampere_bf16_s16816gemm_bf16_128x128"


class Made:
    """A capture of PyTorch on one GPU: steps of 10 ms, what the host calls and what the device runs."""

    def __init__(self, *, name="NVIDIA A100-SXM4-40GB", memory=40 << 30, backend=None):
        self.events, self.correlation = [], 1
        self.head = {"schemaVersion": 1, "deviceProperties": [
            {"id": 0, "name": name, "computeMajor": 8, "computeMinor": 0, "numSms": 108, "totalGlobalMem": memory}]}
        if backend:
            self.head["distributedInfo"] = {"backend": backend, "rank": 0, "world_size": 2}
        for step in range(STEPS):
            self.slice("user_annotation", f"ProfilerStep#{step}", step * STEP_US, STEP_US - 10, pid=1, tid=1)

    def slice(self, category, name, at, us, *, pid=1, tid=1, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": 1000 + at, "dur": us, "args": args})

    def launch(self, at, us, kernel=GEMM, *, call_us=5, category="kernel", call="cudaLaunchKernel", device=0, **args):
        self.correlation += 1
        self.slice("cuda_runtime", call, at, call_us, correlation=self.correlation)
        self.slice(category, kernel, at + call_us + 2, us, pid=device, tid=7, correlation=self.correlation, device=device, stream=7,
                   grid=[1024, 1, 1], block=[128, 1, 1], **args)

    def each_step(self, fill):
        for step in range(STEPS):
            fill(step * STEP_US)
        return self

    def memory(self, at, change, total, reserved):
        self.events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1000 + at, "s": "t",
                            "args": {"Device Type": 1, "Device Id": 0, "Addr": 4096 + at, "Bytes": change,
                                     "Total Allocated": total, "Total Reserved": reserved}})

    def report(self, folder):
        path = folder / "made.pt.trace.json"
        path.write_text(json.dumps({**self.head, "traceEvents": self.events}))
        run = subprocess.run([SONDE, "profile", str(path), "--json"], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)


def busy(m, at):
    """Nearly all of a step in kernels on Tensor Cores."""
    for i in range(8):
        m.launch(at + 100 + i * 1200, 1150)


def healthy():
    m = Made()
    return m.each_step(lambda at: busy(m, at))


def late():
    m = Made()

    def fill(at):
        for i in range(4):
            m.slice("cpu_op", "aten::prepare", at + 50 + i * 2000, 1900)
            m.launch(at + 1960 + i * 2000, 300)
    return m.each_step(fill)


def tiny():
    m = Made()
    return m.each_step(lambda at: [m.launch(at + 50 + i * 20, 2, call_us=12) for i in range(480)])


def start_up():
    m = healthy()
    m.slice("cuda_runtime", "cudaFree", 20, 60_000, correlation=999_999)
    m.events[0]["dur"] = 70_000  # the first step holds it
    for event in m.events[1:]:
        if event["name"] != "cudaFree" and event["ts"] > 1000 + STEP_US // 2:
            event["ts"] += 60_000
    return m


def hidden_graph():
    m = Made()
    return m.each_step(lambda at: m.slice("cuda_runtime", "cudaGraphLaunch", at + 100, 50, correlation=at + 1))


def synchronises():
    m = Made()

    def fill(at):
        busy(m, at)
        for event in m.events:
            if event["cat"] == "kernel":
                event["dur"] = min(event["dur"], 700)
        for i in range(8):
            m.slice("cuda_runtime", "cudaStreamSynchronize", at + 820 + i * 1200, 400, correlation=10**6 + at + i)
    return m.each_step(fill)


def copies():
    m = Made()

    def fill(at):
        m.launch(at + 50, 3000, "Memcpy HtoD (Pageable -> Device)", category="gpu_memcpy", call="cudaMemcpyAsync", bytes=30_000_000)
        for i in range(5):
            m.launch(at + 3200 + i * 1300, 1250)
    return m.each_step(fill)


def churns():
    m = Made()

    def fill(at):
        busy(m, at)
        for i in range(6):
            m.slice("cuda_runtime", "cudaMalloc", at + 110 + i * 1200, 200, correlation=10**6 + at + i)
    return m.each_step(fill)


def layouts():
    m = Made()

    def fill(at):
        for i in range(8):
            m.launch(at + 100 + i * 1200, 1150, "void cudnn::nchwToNhwcKernel<float>(int)" if i % 4 == 0 else GEMM)
    return m.each_step(fill)


def plain_products():
    m = Made()

    def fill(at):
        for i in range(8):
            m.slice("cpu_op", "aten::mm", at + 90 + i * 1200, 30)
            m.launch(at + 100 + i * 1200, 1150, "ampere_sgemm_128x64_nn")
    return m.each_step(fill)


def data_parallel():
    m = Made()

    def fill(at):
        m.slice("user_annotation", "DataParallel.forward", at + 20, 9000)
        busy(m, at)
        m.launch(at + 9000, 500, device=1)
    return m.each_step(fill)


def gloo_on_gpu():
    m = Made(backend="gloo")

    def fill(at):
        busy(m, at)
        m.slice("user_annotation", "DistributedDataParallel.forward", at + 20, 100)
        m.slice("user_annotation", "gloo:all_reduce", at + 9600, 100, tid=2)
    return m.each_step(fill)


def full():
    m = healthy()
    for i in range(8):
        m.memory(100 + i * 500, 5 << 30, (i + 1) * (5 << 30) - (3 << 30), 39 << 30)
    return m


def fragments():
    m = healthy()
    for i in range(8):
        m.memory(100 + i * 500, 3 << 30, (i + 1) * (3 << 30), 39 << 30)
    return m


CASES = {"GPU-LOW": late, "TINY-KERNELS": tiny, "START-UP": start_up, "GRAPH-HIDDEN": hidden_graph, "D2H-SYNC": synchronises,
         "H2D": copies, "MEM-CHURN": churns, "LAYOUT": layouts, "TC-UNUSED": plain_products, "DP-DDP": data_parallel,
         "NCCL": gloo_on_gpu, "MEM-PEAK": full, "MEM-FRAG": fragments}


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_fires_on_the_capture_that_has_its_cause(tmp_path, rule):
    found = {f["id"]: f for f in CASES[rule]().report(tmp_path)["findings"]}
    assert rule in found, sorted(found)
    assert found[rule].get("action"), "a cause without advice"


def test_no_rule_about_the_device_fires_where_it_is_busy(tmp_path):
    found = [f["id"] for f in healthy().report(tmp_path)["findings"]]
    assert not set(found) & set(CASES), found


def test_every_rule_is_documented():
    ids = set()
    for source in (ROOT / "src" / "capture" / "findings").glob("*.cc"):
        if not source.name.endswith("_test.cc"):
            ids |= set(re.findall(r'(?:make|add)\(\s*"([A-Z][A-Z0-9-]+)"|\.id = "([A-Z][A-Z0-9-]+)"', source.read_text()))
    names = {a or b for a, b in ids}
    assert len(names) > 40, "the sources name their rules in another way"
    text = (ROOT / "docs" / "findings.md").read_text()
    rows = set(re.findall(r"^\| ([A-Z][A-Z0-9-]+)", text, re.M))
    assert names - rows == set(), f"not in a table of docs/findings.md: {sorted(names - rows)}"
