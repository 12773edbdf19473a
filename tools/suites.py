#!/usr/bin/env python3
"""Runs the test suites and adds up their counts; the last line is "N passed, M failed", with ", K skipped" where that is so.

A suite is one command. Its counts are read from the last line it prints of a known form (doctest,
pytest, vitest, or our own "N passed, M failed, K skipped"); a suite without such a line counts as one test. Why tests
were skipped is read from lines "skipped: [K] reason" and from pytest's own list, and printed. A suite in which
nothing ran has failed unless it says why. To add a suite, add a row to SUITES (and to TOUCHES in tools/touched.py).
Called by ./test, which has installed and built everything.

    suites.py [--all] [--changed [--base REF]] [NAME...]
"""

import argparse
import collections
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import touched

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable

# name, command, slow (only with --all)
SUITES = [
    ("check", ["tools/check"], False),
    ("unit", ["build/release/sonde_tests", "--no-intro=true"], False),
    ("setup", [PYTHON, "-m", "pytest", "-q", "tests/setup"], False),
    ("engine", [PYTHON, "-m", "pytest", "-q", "tests/engine"], False),
    ("growth", [PYTHON, "tests/engine/growth.py"], True),
    ("soak", [PYTHON, "tests/engine/soak.py"], True),
    ("http", [PYTHON, "-m", "pytest", "tests/http", "--ignore", "tests/http/test_patience.py"], False),
    ("http-patience", [PYTHON, "-m", "pytest", "tests/http/test_patience.py"], True),
    ("http-generated", [PYTHON, "tests/http/generated_requests.py"], True),
    ("exercises", [PYTHON, "tests/exercises.py"], True),
    ("mcp", [PYTHON, "-m", "pytest", "-q", "tests/mcp"], False),
    ("mcp-client", [PYTHON, "tests/mcp/real_client.py"], True),
    ("watch", [PYTHON, "-m", "pytest", "-q", "tests/watch"], False),
    ("writers", [PYTHON, "tests/writers/run.py"], False),
    ("writers-slow", [PYTHON, "tests/writers/slow.py"], True),
    ("compat", [PYTHON, "tests/compat/replay.py"], False),
    ("compat-data-server", [PYTHON, "tests/compat/data_server.py"], False),
    ("compat-data-server-all", [PYTHON, "tests/compat/data_server.py", "--all"], True),
    ("scale", [PYTHON, "-m", "pytest", "-q", "tests/scale"], False),
    ("index-kills", ["env", "SONDE_KILLS=200", PYTHON, "-m", "pytest", "-q", "tests/scale/test_index.py", "-k", "killed"], True),
    ("minio", [PYTHON, "tests/scale/minio.py"], True),
    ("warehouse", [PYTHON, "tests/warehouse/run.py"], True),
    ("numerics", [PYTHON, "tests/numerics/run.py"], True),
    ("compat-attacks", [PYTHON, "tests/compat/attacks.py"], False),
    ("compat-page", [PYTHON, "tests/compat/frontend.py"], True),
    ("profile-story", [PYTHON, "-m", "pytest", "tests/profile"], False),
    ("causes", [PYTHON, "tests/profile/causes/judge.py"], False),
    ("profile-numbers", [PYTHON, "tests/profile/goldens.py"], False),
    ("whatif", [PYTHON, "-m", "pytest", "-q", "tests/whatif"], False),
    ("whatif-models", [PYTHON, "tests/whatif/run_models.py"], True),
    ("page-types", ["npm", "--prefix", "web", "run", "--silent", "check"], False),
    ("page-unit", ["npm", "--prefix", "web", "run", "--silent", "test"], False),
    ("page-browser", ["node", "tests/browser/run.mjs"], False),
    ("release", [PYTHON, "-m", "pytest", "-q", "tests/release"], True),
    ("fresh-machine", ["tools/fresh_machine"], True),
]

COUNTS = [
    re.compile(r"test cases:\s*\d+\s*\|\s*(?P<passed>\d+) passed\s*\|\s*(?P<failed>\d+) failed(?:\s*\|\s*(?P<skipped>\d+) skipped)?"),  # doctest
    re.compile(r"Tests\s+(?:(?P<failed>\d+) failed \| )?(?:(?P<passed>\d+) passed)?(?:(?: \| )?(?P<skipped>\d+) skipped)?"),  # vitest
    re.compile(r"^(?P<passed>\d+) passed, (?P<failed>\d+) failed(?:, (?P<skipped>\d+) skipped)?$", re.M),  # our own
]
PYTEST_END = re.compile(r"^=*\s*((?:\d+ \w+(?:, )?)+) in [\d.]+s", re.M)
REASONS = [
    re.compile(r"^SKIPPED \[(\d+)\] [^ ]+: (?:Skipped: )?(.+)$", re.M),  # pytest -rs
    re.compile(r"^skipped: (?:\[(\d+)\] )?(.+)$", re.M),
]
SECOND = re.compile(r"^second try: (.+)$", re.M)  # it passed, but not at once
Counts = collections.namedtuple("Counts", "passed failed skipped")


def last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return found[-1] if found else None


def counted(output: str) -> Counts | None:
    """What the suite says it did; None when it says nothing of the kind."""
    for pattern in COUNTS:
        found = last(pattern, output)
        if found and any(found[name] for name in ("passed", "failed", "skipped")):
            return Counts(*(int(found[name] or 0) for name in ("passed", "failed", "skipped")))
    if found := last(PYTEST_END, output):
        words = {word.rstrip("s"): int(n) for n, word in re.findall(r"(\d+) (\w+)", found[1])}
        return Counts(words.get("passed", 0) + words.get("xfailed", 0), words.get("failed", 0) + words.get("error", 0) + words.get("xpassed", 0),
                      words.get("skipped", 0))
    return None


def reasons(output: str) -> collections.Counter[str]:
    why: collections.Counter[str] = collections.Counter()
    for pattern in REASONS:
        for number, text in pattern.findall(output):
            why[text.strip()] += int(number or 1)
    return why


def judge(output: str, code: int) -> tuple[Counts, collections.Counter[str], str]:
    """The counts of a suite, why tests were skipped, and what is wrong with the suite as a whole."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    found, why = counted(plain), reasons(plain)
    if found is None:
        found = Counts(*((1, 0) if code == 0 else (0, 1)), 0)
    if code != 0 and found.failed == 0:
        return found._replace(failed=1), why, f"ended with code {code}"
    if found.passed + found.failed == 0:
        if not why:
            return found._replace(failed=1), why, "nothing ran, and it does not say why"
        return found._replace(skipped=max(found.skipped, sum(why.values()), 1)), why, ""
    return found, why, ""


def summary(counts: Counts) -> str:
    return f"{counts.passed} passed, {counts.failed} failed" + (f", {counts.skipped} skipped" if counts.skipped else "")


def run_suite(command: list[str], environment: dict[str, str]) -> Counts:
    """Runs it, shows what it printed when something failed, says why tests were skipped."""
    start = time.monotonic()
    run = subprocess.run(command, cwd=ROOT, text=True, errors="replace", stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    counts, why, trouble = judge(run.stdout, run.returncode)
    if counts.failed:
        print(run.stdout, flush=True)
    if trouble:
        print(f"    {trouble}")
    for text in SECOND.findall(run.stdout):
        print(f"    second try: {text}")
    for text, number in why.most_common():
        print(f"    skipped {number}: {text}")
    print(f"    {summary(counts)} in {time.monotonic() - start:.0f} s", flush=True)
    return counts


def chosen(options: argparse.Namespace) -> list[tuple[str, list[str]]]:
    """The suites to run; with --changed those that a difference to the base can touch, browser tests by file."""
    rows = [row for row in SUITES if not options.names or any(n in row[0] for n in options.names)]
    if not options.changed:
        return [(name, command) for name, command, slow in rows if not slow or options.all or options.names]
    files = touched.changed_files(ROOT, options.base)
    print(f"{len(files)} files differ from {options.base}")
    return [(name, touch) for name, command, slow in rows if not slow for touch in touched.commands(name, command, files, ROOT)]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="slow suites too")
    parser.add_argument("--changed", action="store_true", help="only the suites that what was changed can touch")
    parser.add_argument("--base", default="main", help="what --changed compares with")
    parser.add_argument("names", nargs="*", help="only suites whose name contains one of these")
    options = parser.parse_args(arguments)
    total, broken = Counts(0, 0, 0), []
    environment = os.environ | {"PYTHON": PYTHON, "PYTEST_ADDOPTS": f"{os.environ.get('PYTEST_ADDOPTS', '')} -rs".strip()}
    suites = chosen(options)
    for name, command in suites:
        print(f"--- {name}", flush=True)
        counts = run_suite(command, environment)
        if counts.failed:
            broken.append(name)
        total = Counts(*(a + b for a, b in zip(total, counts)))
    if broken:
        print(f"failed suites: {', '.join(broken)}")
    if not suites and not options.changed:
        print(f"no suite is called like {' or '.join(options.names)}")
        return 1
    print(summary(total))
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
