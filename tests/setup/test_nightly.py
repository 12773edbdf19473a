"""The tools that tools/nightly calls read and judge what others print; here they read recorded text."""

import importlib.machinery
import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import suites


def tool(name: str):
    """A tool without a suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


LOAD = """| shape | RustBoard CPU s / MB | Sonde, 1 thread | CPU ratio | wall ratio |
|---|---|---|---|---|
| `scalars_1x` | 1.20 / 40 | 0.100 / 9 | 12.0x | 11.0x |
| `mixed` | 2.00 / 70 | 0.250 / 20 | 8.0x | 3.0x |
"""
PROFILE = """making the capture
| capture | tool | xprof CPU s / wall s / MB | Sonde CPU s / wall s / MB | CPU | wall | memory |
|---|---|---|---|--:|--:|--:|
| M, 5.6 MB | overview_page | 1.00 / 1.00 / 90 | 0.050 / 0.050 / 20 | 20.0x | 20.0x | 1/4.5 |
| M, 5.6 MB | trace_viewer | 1.00 / 1.00 / 90 | 0.020 / 0.050 / 20 | 50.0x | 20.0x | 1/4.5 |
"""


@pytest.mark.parametrize(("text", "column", "found"), [
    (LOAD, "CPU ratio", {"scalars_1x": 12.0, "mixed": 8.0}),
    (PROFILE, "CPU", {"M, 5.6 MB, overview_page": 20.0, "M, 5.6 MB, trace_viewer": 50.0}),
    ("nothing here", "CPU", {}),
    (LOAD, "no such column", {}),
])
def test_ratios_are_read_from_the_tables_of_the_benches(text, column, found):
    assert tool("bench_ratios").ratios(text, column) == found


def test_a_ratio_that_fell_or_is_gone_is_named():
    compare = tool("bench_ratios").compare
    assert compare({"a": 10.0, "b": 10.0}, {"a": 7.6, "b": 12.0}, 0.75) == []
    assert compare({"a": 10.0, "b": 10.0}, {"a": 7.4}, 0.75) == ["b: no figure; 10.0 was recorded", "a: 7.4 instead of 10.0"]


def test_coverage_counts_rooms_and_leaves_tests_out():
    coverage = tool("coverage")

    def entry(name, lines, run):
        part = {"count": lines, "covered": run}
        return {"filename": f"{ROOT}/src/{name}", "summary": {"lines": part, "functions": part, "branches": {"count": 0, "covered": 0}}}

    rows = coverage.table([entry("log/load/a.cc", 100, 90), entry("log/load/b.h", 100, 50), entry("log/load/a_test.cc", 50, 0),
                           entry("base/c.cc", 10, 10), {**entry("x", 9, 0), "filename": "/usr/include/vector"}])
    assert rows[2:] == ["| base | 1 | 10 | 100.0 % | 100.0 % |  | `base/c.cc` (0) |",
                        "| log/load | 2 | 200 | 70.0 % | 70.0 % |  | `log/load/b.h` (50) |",
                        "| **all** | 3 | 210 | 71.4 % | 71.4 % |  | `log/load/b.h` (50) |"]


def test_the_sanitizers_add_up_what_ran_failed_and_was_skipped(monkeypatch, tmp_path, capsys):
    sanitize = tool("sanitize")
    monkeypatch.setattr(sanitize, "ROOT", tmp_path)
    monkeypatch.setattr(sanitize.suites, "run_suite", lambda command, environment: suites.Counts(3, 0, 1))
    monkeypatch.setattr(sys, "argv", ["sanitize", "asan", "--no-build", "--only", "unit,http"])
    (tmp_path / "build/asan").mkdir(parents=True)
    assert sanitize.main() == 0
    assert capsys.readouterr().out.endswith("6 passed, 0 failed, 2 skipped\n")
