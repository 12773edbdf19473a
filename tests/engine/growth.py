#!/usr/bin/env python3
"""No super-linear work on foreign bytes: instructions are counted while inputs double in size.

tests/support/growth.cc names the inputs. Each is read at four sizes under callgrind; from one size to the next the
instructions may grow by a factor of 2.6 at most (2 is linear, sorting adds a little, 4 would be quadratic). Counted are
instructions, so a busy machine changes nothing. Takes some minutes: only with ./test --all.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
import itertools

ROOT = Path(__file__).resolve().parents[2]
TESTS = os.environ.get("SONDE_TESTS", str(ROOT / "build/release/sonde_tests"))
CASE = ["--no-skip", "--test-case=Growth: one input is read"]
SIZES = [20_000, 40_000, 80_000, 160_000]
FACTOR = 2.6


def instructions(name, size):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=growth_work", TESTS, *CASE]
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "SONDE_GROWTH_INPUT": name, "SONDE_GROWTH_BYTES": str(size)}, timeout=300)
    counted = re.search(r"Collected : (\d+)", run.stderr)
    assert run.returncode == 0 and counted, run.stdout + run.stderr
    return int(counted[1])


def main():
    names = sys.argv[1:] or re.findall(r"^input (\S+)", subprocess.run([TESTS, *CASE], capture_output=True, text=True, check=True).stdout, re.M)
    assert len(names) >= 30 or sys.argv[1:], names
    passed, failed = 0, 0
    for name in names:
        counts = [instructions(name, size) for size in SIZES]
        factors = [later / max(1, earlier) for earlier, later in itertools.pairwise(counts)]
        # The last doubling decides: what a constant part hides at first shows there.
        good = counts[0] > 1000 and max(factors[-2:]) <= FACTOR
        passed, failed = passed + good, failed + (not good)
        print(f"{'ok  ' if good else 'BAD '} {name:24} {' '.join(f'{count:>13}' for count in counts)}   x {' '.join(f'{factor:.2f}' for factor in factors)}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
