#!/usr/bin/env python3
"""Builds TARGET in a build folder and says how far it is: build_progress.py FOLDER TARGET

On a terminal one line that is written over, elsewhere a line every 20 seconds: percentage and remaining time. What a
compiler says is printed as it is. A build with nothing to do prints nothing.
"""

import os
import re
import subprocess
import sys
import time
from typing import TextIO

STATUS = re.compile(r"^@(\d+)/(\d+)@ (.*)")
QUIET_S = 20.0  # between two lines where nothing can be written over


def remaining(done: int, total: int, elapsed_s: float) -> str:
    """What is left at the pace so far; nothing while that would be a guess."""
    if done < 5 or elapsed_s < 3:
        return ""
    left_s = elapsed_s * (total - done) / done
    return f", about {left_s / 60:.0f} min left" if left_s >= 90 else f", about {max(1, round(left_s))} s left"


def line_of(done: int, total: int, elapsed_s: float) -> str:
    return f"building: {100 * done // max(total, 1)} % ({done} of {total}{remaining(done, total, elapsed_s)})"


def build(folder: str, target: str, out: TextIO) -> int:
    environment = os.environ | {"NINJA_STATUS": "@%f/%t@ "}
    command = ["cmake", "--build", folder, "--target", target]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment)
    start = last = time.monotonic()
    terminal = out.isatty()
    drawn = steps = 0
    for line in run.stdout or []:
        found = STATUS.match(line)
        now = time.monotonic()
        if found:
            done, total = int(found[1]), int(found[2])
            steps = max(steps, total) if found[3].startswith(("Building", "Linking", "Installing")) else steps
            if terminal:
                text = line_of(done, total, now - start)
                out.write("\r" + text.ljust(drawn))
                drawn = len(text)
            elif now - last >= QUIET_S:
                out.write(line_of(done, total, now - start) + "\n")
                last = now
        elif not line.startswith(("ninja: no work", "-- ", "ninja: Entering")):
            out.write(("\r" + " " * drawn + "\r" if drawn else "") + line)
            drawn = 0
        out.flush()
    code = run.wait()
    if drawn:
        out.write("\r" + " " * drawn + "\r")
    if code == 0 and steps:
        out.write(f"built in {time.monotonic() - start:.0f} s ({steps} steps)\n")
    return code


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(build(sys.argv[1], sys.argv[2], sys.stdout))
