"""Captures that are empty or cut short: an empty one is an error with a remedy, of a damaged one the damage comes first."""

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build" / "release" / "sonde"))
CAUSES = ROOT / "tests" / "data" / "profile" / "causes"


def profile(path, *options):
    return subprocess.run([SONDE, "profile", str(path), *options], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("host.xplane.pb", b""),
        ("host.xplane.pb", b"\x0a\x02\x12\x00"),  # a plane with an empty name
        ("main.pt.trace.json", b'{"traceEvents":[]}'),
        ("main.pt.trace.json", b"{}"),
    ],
    ids=["no bytes", "a plane", "no events", "an object"],
)
def test_an_empty_capture_is_an_error(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    run = profile(tmp_path / name)
    assert run.returncode == 1
    assert "empty" in run.stderr and "again" in run.stderr, run.stderr
    assert "Mark the steps" not in run.stdout + run.stderr


@pytest.mark.parametrize("name", ["tf4_generator.xplane.pb", "torch4_collate.pt.trace.json"])
@pytest.mark.parametrize("keep", [0.15, 0.6])
def test_of_a_damaged_capture_the_damage_comes_first(tmp_path, name, keep):
    whole = gzip.decompress((CAUSES / f"{name}.gz").read_bytes())
    (tmp_path / name).write_bytes(whole[: int(keep * len(whole))])
    run = profile(tmp_path / name, "--json")
    assert run.returncode == 0, run.stderr
    findings = json.loads(run.stdout)["findings"]
    assert findings[0]["id"] == "DATA-LOSS", findings[0]
    assert "copy it again" in findings[0]["action"]
    assert not [f for f in findings if f["id"] == "NO-STEPS" and "none could be derived" in f["text"]]


def test_a_capture_cut_before_its_first_event_is_damaged_not_empty(tmp_path):
    whole = gzip.decompress((CAUSES / "tf4_generator.xplane.pb.gz").read_bytes())
    (tmp_path / "host.xplane.pb").write_bytes(whole[:60])
    run = profile(tmp_path / "host.xplane.pb", "--json")
    assert [f["id"] for f in json.loads(run.stdout)["findings"]] == ["DATA-LOSS"]
