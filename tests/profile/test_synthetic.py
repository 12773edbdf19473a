"""Findings and steps on captures whose causes are known, because they are made: see the test cases of the
recommendations' specification."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build" / "release" / "sonde"))
MAKER = ROOT / "tests" / "profile" / "make_synth_xspace.py"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    made = {}

    def of(*options, tool="overview_page"):
        if options not in made:
            folder = tmp_path_factory.mktemp("capture")
            subprocess.run([sys.executable, MAKER, folder, "--events", "2000", "--steps", "8", *options], check=True, stdout=subprocess.DEVNULL)
            made[options] = next(folder.glob("plugins/profile/*/*.xplane.pb"))
        run = subprocess.run([SONDE, "profile", made[options], "--tool", tool, "--json"], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    return of


def finding(report, name):
    return next((f for f in report["findings"] + report["checked"] if f["id"] == name), None)


def table(report, name):
    found = next(t for t in report["tables"] if t["id"] == name)
    return [c["id"] for c in found["columns"]], found["rows"]


def test_waiting_for_input_is_measured_and_comes_first(report):
    first = report()["findings"][0]
    assert first["id"] == "IN-WAIT" and first["fired"]
    assert first["numbers"]["percent"] == pytest.approx(35.5, abs=2.5)


def test_fast_input_is_no_finding(report):
    assert not finding(report("--input-ms", "0.05"), "IN-WAIT")["fired"]


def test_two_devices_wait_for_each_other(report):
    two = report("--gpus", "2")
    assert finding(two, "COMM-EXPOSED")["fired"]
    assert finding(two, "IMBALANCE")["numbers"]["most_ms"] >= finding(two, "IMBALANCE")["numbers"]["mean_ms"]
    assert finding(report(), "IMBALANCE") is None, "one device cannot be out of balance"


def test_steps_without_marks_are_derived_and_equal(report):
    derived, marked = report("--no-steps"), report()
    assert finding(derived, "NO-STEPS")["fired"] and derived["inferred"]
    columns, rows = table(derived, "step_times")
    marked_columns, marked_rows = table(marked, "step_times")
    assert columns == marked_columns and len(rows) == len(marked_rows) == 8
    at = columns.index("stepTimeMs")
    assert [r[at] for r in rows] == pytest.approx([r[at] for r in marked_rows], rel=0.02)


def test_the_parts_of_a_step_add_up_to_it(report):
    columns, rows = table(report(), "step_times")
    total = columns.index("stepTimeMs")
    parts = [i for i, c in enumerate(columns) if c.endswith("TimeMs") and i != total]
    for row in rows:
        assert sum(row[i] for i in parts) == pytest.approx(row[total], rel=1e-6)
        assert row[columns.index("deviceComputeTimeMs")] > 0 and row[columns.index("infeedTimeMs")] > 0


def test_roofline_has_each_step_and_their_average(report):
    columns, rows = table(report("--flavor", "xla", tool="roofline_model"), "roofline")
    step, operation, time, infeed = (columns.index(c) for c in ("step", "operation", "total_time", "include_infeed_outfeed"))
    programs = {r[step]: r[time] for r in rows if r[operation] == "Program" and r[infeed]}
    assert set(programs) == {"Total", "Average", *map(str, range(8))}
    inner = [programs[str(i)] for i in range(1, 7)]
    assert programs["Average"] == pytest.approx(sum(inner) / 6, rel=1e-6)


def test_memory_is_checked(report):
    r = report()
    ids = {f["id"] for f in r["findings"] + r["checked"]}
    assert {"MEM-PEAK", "MEM-FRAG", "MEM-GROW", "IDLE-TAIL"} <= ids
