"""tools/suites.py and tools/touched.py: what counts as run, skipped and failed, and what a change can touch."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import suites
import touched

DOCTEST = "[doctest] test cases:     272 |     272 passed | 0 failed | 3 skipped\n[doctest] Status: SUCCESS!\n"
# output, exit code, (passed, failed, skipped), a reason, a complaint
OUTPUTS = [
    (DOCTEST, 0, (272, 0, 3), None, ""),
    ("     Tests  2 failed | 31 passed | 4 skipped (37)\n", 1, (31, 2, 4), None, ""),
    ("\x1b[32m     Tests  31 passed (31)\x1b[0m\n", 0, (31, 0, 0), None, ""),
    ("==== 2 failed, 5 passed, 1 skipped, 1 error in 0.31s ====\n", 1, (5, 3, 1), None, ""),
    ("12 passed in 4.20s\n", 0, (12, 0, 0), None, ""),
    ("======= 12 passed, 3 warnings in 64.20s (0:01:04) =======\n", 0, (12, 0, 0), None, ""),
    ("SKIPPED [2] tests/a.py:3: no torch here\n1 passed, 2 skipped in 1.0s\n", 0, (1, 0, 2), "no torch here", ""),
    ("SKIPPED [7] tests/a.py:3: no torch here\n7 skipped in 1.0s\n", 0, (0, 0, 7), "no torch here", ""),
    ("219 passed, 0 failed\n", 0, (219, 0, 0), None, ""),
    ("skipped: [337] not on this machine\n219 passed, 0 failed, 337 skipped\n", 0, (219, 0, 337), "not on this machine", ""),
    ("0 passed, 0 failed\n", 0, (0, 1, 0), None, "nothing ran, and it does not say why"),
    ("skipped: Chromium is not here\n0 passed, 0 failed\n", 0, (0, 0, 1), "Chromium is not here", ""),
    ("no tests ran in 0.01s\n", 5, (0, 1, 0), None, ""),
    ("fine\n", 0, (1, 0, 0), None, ""),
    ("Traceback ...\n", 1, (0, 1, 0), None, ""),
    ("31 passed, 0 failed\n", 139, (31, 1, 0), None, "ended with code 139"),
]


@pytest.mark.parametrize("output, code, counts, reason, complaint", OUTPUTS)
def test_counts(output, code, counts, reason, complaint):
    found, why, said = suites.judge(output, code)
    assert tuple(found) == counts and said == complaint
    assert list(why) == ([reason] if reason else [])


def test_last_line_names_skipped_only_where_there_are_some():
    assert suites.summary(suites.Counts(3, 1, 0)) == "3 passed, 1 failed"
    assert suites.summary(suites.Counts(3, 0, 2)) == "3 passed, 0 failed, 2 skipped"


def names(*files):
    return {n for n, c, slow in suites.SUITES if not slow and touched.commands(n, c, list(files), ROOT)}


def test_a_change_runs_what_it_can_touch():
    assert names("docs/api.md") == {"check"}
    assert {"unit", "profile-story", "profile-numbers"} <= names("src/capture/trace/trace.h")
    assert not {"writers", "page-unit", "engine"} & names("src/capture/trace/trace.h")
    assert {"unit", "engine", "compat"} <= names("src/log/record/record_reader.cc")
    assert {"page-types", "page-unit", "page-browser"} <= names("web/src/dashboards/hparams/x.svelte")


def test_every_suite_that_is_not_slow_can_be_reached():
    known = {n for n, _, slow in suites.SUITES if not slow}
    assert set(touched.TOUCHES) <= known
    for name in known:
        assert touched.commands(name, ["x"], ["src/base/x.h", "src/text/x.cc", "src/log/write/x.cc", "src/capture/x.cc", "tools/x", "web/src/x.ts"], ROOT)


def test_browser_tests_by_file():
    def suites_of(*files):
        return [c[-1] for c in touched.commands("page-browser", ["node", "run.mjs"], list(files), ROOT)]

    assert suites_of("tests/browser/hparams.browser.mjs") == ["first.browser", "hparams.browser"]
    assert suites_of("web/src/dashboards/time_series/x.svelte") == ["curves.browser", "first.browser", "series.browser"]
    assert suites_of("src/base/x.cc") == []
