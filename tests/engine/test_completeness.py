"""Every directory of the corpus: `sonde inspect --json` finds what TensorBoard's readers find, and what a reader that
loses nothing finds beyond it (damage, gzip, restarts)."""

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

import compare_inventory

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
SONDE = Path(os.environ.get("SONDE_BINARY", ROOT / "build" / "release" / "sonde"))
with gzip.open(DATA / "inventory.json.gz", "rt") as f:
    INVENTORY = json.load(f)
CORPUS = DATA / "corpus"
NAMES = sorted(n for n in INVENTORY if (CORPUS / n).is_dir() or (CORPUS / f"{n}.tar.gz").exists())


def inspect(logdir: str, *flags: str) -> dict:
    run = subprocess.run([SONDE, "inspect", logdir, "--json", *flags], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_corpus_is_there():
    assert len(NAMES) >= 50


@pytest.mark.parametrize("name", NAMES)
def test_equal_to_the_inventory(name, tmp_path):
    logdir = compare_inventory.logdir_of(str(CORPUS), name, str(tmp_path))
    assert list(compare_inventory.check(name, INVENTORY[name], inspect(logdir)["runs"])) == []


def test_the_comparison_notices_every_change():
    assert compare_inventory.selftest(INVENTORY) == 0


def test_damage_has_place_and_advice():
    found = inspect(str(CORPUS / "edge_corrupt"))
    kinds = {d["kind"] for d in found["damage"]}
    assert {"payload_crc", "length_crc"} <= kinds
    for damage in found["damage"]:
        assert damage["file"] and damage["offset"] >= 0 and damage["text"] and damage["advice"]
    assert found["totals"]["damaged"] >= len(found["damage"])


def test_everything_is_kept_without_purging():
    shown = inspect(str(CORPUS / "edge_restart_session"))["runs"]["one_file"]["tags"]["loss"]
    kept = inspect(str(CORPUS / "edge_restart_session"), "--purge_orphaned_data", "false")
    assert shown["points"] == 12
    assert kept["runs"]["one_file"]["tags"]["loss"]["points"] == shown["raw_points"] == 16


def test_missing_directory_is_a_sentence():
    run = subprocess.run([SONDE, "inspect", "/nonexistent/logs"], capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.startswith("sonde: /nonexistent/logs")


def test_one_file_as_log_directory(tmp_path):
    (event_file,) = (CORPUS / "edge_empty" / "has_data").iterdir()
    assert inspect(str(event_file))["runs"]["."]["tags"]["loss"]["points"] == 2


def test_logdir_spec_names_its_roots():
    spec = f"a:{CORPUS / 'edge_empty'},{CORPUS / 'edge_values'}"
    run = subprocess.run([SONDE, "inspect", "--logdir_spec", spec, "--json"], capture_output=True, text=True)
    names = set(json.loads(run.stdout)["runs"])
    assert "a/has_data" in names and "f32" in names
