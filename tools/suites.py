#!/usr/bin/env python3
"""Runs the test suites and adds up their counts; the last line is "N passed, M failed".

A suite is one command. Its counts are read from the last line it prints of a known form (doctest,
pytest, vitest, or our own "N passed, M failed"); a suite without such a line counts as one test. To
add a suite, add a row to SUITES. Called by ./test, which has installed and built everything.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable

# name, command, slow (only with --all)
SUITES = [
    ("check", ["tools/check"], False),
    ("unit", ["build/release/sonde_tests", "--no-intro=true"], False),
    ("engine", [PYTHON, "-m", "pytest", "-q", "tests/engine"], False),
    ("http", [PYTHON, "-m", "pytest", "tests/http", "--ignore", "tests/http/test_patience.py"], False),
    ("http-patience", [PYTHON, "-m", "pytest", "tests/http/test_patience.py"], True),
    ("writers", [PYTHON, "tests/writers/run.py"], False),
    ("writers-slow", [PYTHON, "tests/writers/slow.py"], True),
    ("compat", [PYTHON, "tests/compat/replay.py"], False),
    ("compat-attacks", [PYTHON, "tests/compat/attacks.py"], False),
    ("compat-page", [PYTHON, "tests/compat/frontend.py"], True),
    ("profile-story", [PYTHON, "-m", "pytest", "tests/profile"], False),
    ("profile-numbers", [PYTHON, "tests/profile/goldens.py"], False),
    ("page-types", ["npm", "--prefix", "web", "run", "--silent", "check"], False),
    ("page-unit", ["npm", "--prefix", "web", "run", "--silent", "test"], False),
    ("page-browser", ["node", "tests/browser/run.mjs"], False),
]

COUNTS = [
    re.compile(r"test cases:\s*\d+\s*\|\s*(?P<passed>\d+) passed\s*\|\s*(?P<failed>\d+) failed"),  # doctest
    re.compile(r"Tests\s+(?:(?P<failed>\d+) failed \| )?(?P<passed>\d+) passed"),  # vitest
    re.compile(r"^(?:=+ )?(?:(?P<failed>\d+) failed,? ?)?(?:(?P<passed>\d+) passed)?.* in [\d.]+s", re.M),  # pytest
    re.compile(r"^(?P<passed>\d+) passed, (?P<failed>\d+) failed", re.M),
]


def counts(output: str, code: int) -> tuple[int, int]:
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    for pattern in COUNTS:
        found = None
        for found in pattern.finditer(plain):
            pass
        if found and (found["passed"] or found["failed"]):
            passed, failed = int(found["passed"] or 0), int(found["failed"] or 0)
            return passed, failed if failed or code == 0 else 1
    return (1, 0) if code == 0 else (0, 1)


def run_suite(command: list[str], environment: dict[str, str]) -> tuple[int, int]:
    """Runs it, shows what it printed when something failed; how many passed and failed."""
    start = time.monotonic()
    run = subprocess.run(command, cwd=ROOT, text=True, errors="replace", stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    good, bad = counts(run.stdout, run.returncode)
    if bad:
        print(run.stdout, flush=True)
    print(f"    {good} passed, {bad} failed in {time.monotonic() - start:.0f} s", flush=True)
    return good, bad


def main(arguments: list[str]) -> int:
    everything = "--all" in arguments
    names = [a for a in arguments if not a.startswith("--")]
    passed = failed = 0
    broken = []
    for name, command, slow in SUITES:
        if names and not any(n in name for n in names):
            continue
        if slow and not everything and not names:
            continue
        print(f"--- {name}", flush=True)
        good, bad = run_suite(command, os.environ | {"PYTHON": PYTHON})
        if bad:
            broken.append(name)
        passed += good
        failed += bad
    if broken:
        print(f"failed suites: {', '.join(broken)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
