"""What holds for every capture we have, whatever it shows: numbers are numbers, parts add up to the period, no finding
promises more than a step, sentences agree with figures, and every change can be made in the capture's own framework."""

import json
import math
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build" / "release" / "sonde"))
DATA = ROOT / "tests" / "data" / "profile"
SHARED = ROOT.parent / "shared"
SMALL = 3_000_000  # bytes: larger ones are left to the recorded numbers

FOREIGN = {
    "tensorflow": r"\btorch\.|\bjax\.|num_workers",
    "jax": r"model\.compile\(|steps_per_execution|tf\.function|\btorch\.|num_workers|tf\.keras",
    "pytorch": r"steps_per_execution|\btf\.|@tf|\bjax\.|python_tracer_level",
}


def captures():
    found = []
    for folder in (DATA, DATA / "causes", SHARED / "causes" / "captures", SHARED / "profile_samples" / "A", SHARED / "profile_samples" / "B"):
        if not folder.is_dir():
            continue
        for path in sorted(folder.iterdir()):
            files = list(path.rglob("*")) if path.is_dir() else [path]
            sizes = [f.stat().st_size for f in files if f.is_file()]
            names = " ".join(f.name for f in files)
            if (".xplane.pb" in names or ".pt.trace.json" in names) and sum(sizes) <= SMALL:
                found.append(path)
    return [p for p in found if p.name != "causes"]


def report(path):
    run = subprocess.run([SONDE, "profile", str(path), "--json"], capture_output=True, text=True, timeout=120)
    assert run.returncode in (0, 1), run.stderr
    return json.loads(run.stdout) if run.returncode == 0 else None


def numbers(node):
    if isinstance(node, bool) or node is None:
        return
    if isinstance(node, (int, float)):
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from numbers(value)
    elif isinstance(node, list):
        for value in node:
            yield from numbers(value)


def table(r, name):
    return next((t for t in r["tables"] if t["id"] == name), None)


@pytest.mark.parametrize("path", captures(), ids=lambda p: p.name)
def test_a_capture(path):
    r = report(path)
    if r is None:
        return  # told as an error
    figures = {f["id"]: f["value"] for f in r["figures"]}
    texts = [f["text"] + "\n" + f.get("action", "") + "\n" + f.get("change", {}).get("diff", "") for f in r["findings"]]
    assert all(math.isfinite(n) for n in numbers(r))
    assert not any(re.search(r"\bnan\b|\binf\b|-\d+%\)?\.? *-|−?-[2-9]\d\d%", t) for t in texts), texts

    # Parts of the period add up to it.
    period = table(r, "period")
    if period:
        total = sum(row[1] for row in period["rows"])
        shares = sum(row[3] for row in period["rows"])
        assert abs(shares - 100) < 1, shares
        assert total > 0 and all(row[1] >= 0 for row in period["rows"])

    # Nobody wins more than a step, and what fired is apart from what was checked.
    longest = max(figures.get("period_ms") or 0, figures.get("step_time_ms") or 0)
    for f in r["findings"]:
        assert f["fired"]
        if "gain_ps" in f and longest:
            assert int(f["gain_ps"]) <= 1.05e9 * max(longest, sum(row[1] for row in period["rows"]) if period else 0), f["text"]
    assert not any(f["fired"] for f in r["checked"])

    # "N of M": never more than there are.
    for text in texts:
        for a, b in re.findall(r"(\d+(?:\.\d+)?) of (\d+(?:\.\d+)?)\b", text):
            assert float(a) <= 1.001 * float(b), text

    # A stage of tf.data that is blamed for a wait takes time itself.
    for text in texts:
        for stage in re.findall(r"the stage that is too slow is .*?, (\d+\.\d+) ms a batch", text):
            assert float(stage) > 0, text

    # The sentence and the findings say one thing.
    statement = " ".join(p for t in r["tables"] for k, p in t.get("properties", {}).items() if "statement" in k or "conclusion" in k)
    waits = [f for f in r["findings"] if f["id"] == "IN-WAIT"]
    made = [f for f in r["findings"] if f["id"] == "IN-PYTHON"]  # batches that the loop itself makes
    if waits:
        assert "not input-bound" not in statement
    first = r["findings"][0] if r["findings"] else None
    if first and first["id"] not in ("IN-WAIT", "IN-PYTHON", "IN-FIRST-STEP") and "gain_ps" in first:
        assert not re.search(r"highly input-bound", statement) or waits, statement
    if re.search(r"(highly|moderately) input-bound", statement):
        assert waits or made or figures.get("steps", 0) < 3, statement

    # Nothing computes faster than its peak.
    if "mfu" in figures:
        assert 0 <= figures["mfu"] <= 100 and figures["model_flop_rate"] >= 0

    # Changes that can be made here.
    names = {f.name for f in ([path] if path.is_file() else path.rglob("*"))}
    kind = "pytorch" if any("pt.trace" in n for n in names) else "jax" if "jax" in path.name else "tensorflow" if "tf" in path.name else ""
    for text in texts:
        if kind:
            assert not re.search(FOREIGN[kind], text), text


@pytest.mark.parametrize("path", [p for p in captures() if re.search(r"mi300|rtx|alexnet|h100|made_gpu", p.name)], ids=lambda p: p.name)
def test_kernels_have_possible_launches(path):
    tool = "torch.kernel" if any("pt.trace" in f.name for f in [path, *path.rglob("*")]) else "kernel_stats"
    run = subprocess.run([SONDE, "profile", str(path), "--tool", tool, "--json"], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    for t in json.loads(run.stdout)["tables"]:
        for i, column in enumerate(t["columns"]):
            if "registers" in column["label"].lower():
                assert all(not isinstance(row[i], (int, float)) or row[i] <= 1024 for row in t["rows"]), path
