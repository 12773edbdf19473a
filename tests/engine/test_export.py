"""`sonde export`: every point once, in CSV and JSON lines."""

import csv
import io
import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "data" / "corpus"
SONDE = Path(os.environ.get("SONDE_BINARY", ROOT / "build" / "release" / "sonde"))


def export(*arguments: str) -> str:
    run = subprocess.run([SONDE, "export", *arguments], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_csv_has_every_scalar_point():
    rows = list(csv.DictReader(io.StringIO(export(str(CORPUS / "tf2_scalars")))))
    assert len(rows) == 97
    losses = [r for r in rows if r["run"] == "train" and r["tag"] == "epoch_loss"]
    assert [int(r["step"]) for r in losses] == list(range(12))
    assert all(float(r["value"]) == float(r["value"]) for r in losses)


def test_json_lines_hold_texts_histograms_and_odd_numbers():
    lines = [json.loads(line) for line in export(str(CORPUS / "edge_values"), "--format", "jsonl").splitlines()]
    by = {(line["run"], line["tag"], line["step"]): line["value"] for line in lines}
    assert by["ints", "u64", 3] == 18446744073709551615
    assert by["ints", "u32", 3] == 4294967295
    assert by["bf16", "v", 0] == 1
    assert by["nan_only", "v", 0] == "NaN"
    assert by["bool", "flag", 0] in (True, False)
    texts = export(str(CORPUS / "tf2_text"), "--format", "jsonl").splitlines()
    assert any(isinstance(json.loads(t)["value"], str) for t in texts)
    histograms = [json.loads(h) for h in export(str(CORPUS / "tf2_histograms"), "--format", "jsonl").splitlines()]
    assert any(h["value"] and len(h["value"][0]) == 3 for h in histograms)


def test_filters_and_output_file(tmp_path):
    out = tmp_path / "points.csv"
    export(str(CORPUS / "tf2_scalars"), "--runs", "^train$", "--tags", "accuracy", "-o", str(out))
    rows = list(csv.DictReader(out.open()))
    assert {(r["run"], r["tag"]) for r in rows} == {("train", "epoch_accuracy")}
    bad = subprocess.run([SONDE, "export", str(CORPUS), "--tags", "("], capture_output=True, text=True)
    assert bad.returncode == 2 and "--tags" in bad.stderr


def test_superseded_points_only_on_demand():
    logdir = str(CORPUS / "edge_restart_session")
    shown = export(logdir, "--runs", "one_file", "--tags", "loss").count("\n")
    kept = export(logdir, "--runs", "one_file", "--tags", "loss", "--purge_orphaned_data", "false").count("\n")
    assert (shown, kept) == (13, 17)


def test_a_full_disk_is_said():
    run = subprocess.run([SONDE, "export", str(CORPUS / "tf2_scalars"), "-o", "/dev/full"], capture_output=True, text=True)
    assert run.returncode == 1 and "write" in run.stderr
