"""What comparing with torch-tb-profiler needs beyond goldens.py: its pairs, its clock, checked excuses.

The plug-in keeps times as doubles of microseconds since 1970 or since boot. Every difference of two such
times is wrong by up to the spacing of doubles at that size (0.25 us at 1.7e15, 0.0005 us at 4e12), and a
sum over n calls by up to n times that: cells within it are equal by the recording's own rounding.

Rules with "reduced" hold only if Sonde gives the recorded cell on the capture reduced to what the plug-in reads
(torch_reduced.py), so that an excuse says exactly what the recorder does not know and stops to hold as soon as
that is not so.
"""

import math
import re
import subprocess
import tempfile
from pathlib import Path

import torch_reduced

TORCH = "torch."


def pairs(goldens):
    for golden in sorted(goldens.glob("torch_*/torch.*.neutral.json.gz")):
        yield golden.parent.name, golden.name[: -len(".neutral.json.gz")], TORCH, golden


def clock_quantum(goldens, capture, load):
    """Spacing of doubles at the capture's latest time, in us; 0 for captures in whole microseconds."""
    latest, fraction = 0.0, False
    for digest in goldens.glob(f"{capture}/trace_digest~*.neutral.json.gz"):
        table = load(str(digest))["tables"]["threads"]
        last = table["columns"].index("last_end_us")
        for row in table["rows"]:
            latest = max(latest, float(row[last] or 0))
            fraction = fraction or float(row[last] or 0) % 1 != 0
    return math.ulp(latest) if fraction else 0.0


def within_clock(quantum, row, wanted, got):
    if not quantum or not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in (wanted, got)):
        return False
    calls = next((row[c] for c in ("calls", "Calls", "occurences") if isinstance(row.get(c), int)), 64)
    whole = 1.0 if isinstance(wanted, int) and isinstance(got, int) else 0.0  # either side may have rounded the other way
    return abs(float(wanted) - float(got)) <= quantum * (2 + 2 * calls) + (whole if quantum * calls > 0.05 else 0)


def own_row(candidate, where, row):
    """Sonde's row for the recorded one: the first that agrees in every text column both have."""
    name = re.match(r"^(.*)\[\d+\]\.", where)
    table = ((candidate or {}).get("tables") or {}).get(name[1]) if name else None
    if not table:
        return {}
    texts = [(c, row[c]) for c in table["columns"] if isinstance(row.get(c), str) and c in ("name", "Name", "input_shape", "call_stack", "Step", "col0")]
    for cells in table["rows"]:
        own = dict(zip(table["columns"], cells))
        if all(str(own.get(c)) == text for c, text in texts):
            return own
    return {}


def reduced_answer(compare, program, capture, tool, flags):
    """What Sonde makes of the capture as the plug-in reads it."""
    view = tool.split("~")[0].removeprefix(TORCH)
    with tempfile.TemporaryDirectory() as folder:
        names = torch_reduced.write(capture, Path(folder), view)
        run = subprocess.run([program, "profile", folder, *flags, "--format", "neutral"], capture_output=True, text=True)
    return torch_reduced.as_listed(compare.loads(run.stdout) if run.returncode == 0 else {}, names, view)
