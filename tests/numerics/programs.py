"""Runs programs with a fault on a marked line and asks `sonde numerics` for it; healthy ones must stay silent.

    programs.py [NAME ...]      needs torch, JAX, TensorFlow and Keras; PYTHONPATH leads to the package
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = os.environ.get("SONDE_BINARY", str(ROOT / "build" / "release" / "sonde"))


def expected(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if found := re.search(r"# FAULT: (\S+)", line):
            return number, found[1].split("|")
    return None


def problem_of(path, folder):
    run = subprocess.run([sys.executable, str(path), folder], capture_output=True, text=True, timeout=300)
    if run.returncode:
        return "the program failed: " + run.stderr[-800:]
    asked = subprocess.run([*PROGRAM.split(), "numerics", "--json", folder], capture_output=True, text=True)
    if asked.returncode not in (0, 3):
        return f"sonde numerics: exit code {asked.returncode}: {asked.stderr}"
    answer = json.loads(asked.stdout)
    print("   ", answer["sentence"])
    fault = expected(path)
    if fault is None:
        return "" if asked.returncode == 0 else "a healthy program is blamed"
    line, ops = fault
    if asked.returncode != 3:
        return "no fault was found"
    if (Path(answer["path"]).name, answer["line"]) != (path.name, line):
        return f"line {answer['line']} of {answer['path']} is named instead of {line}"
    if not any(op in answer["op"] or op in answer["type"] for op in ops):
        return f"{answer['op']} is named instead of {ops}"
    if path.stem == "torch_gloo_rank" and answer["rank"] != 1:
        return f"rank {answer['rank']} is named instead of 1"
    return ""


def main():
    passed = failed = 0
    for path in sorted((HERE / "programs").glob("*.py")):
        if sys.argv[1:] and not any(name in path.stem for name in sys.argv[1:]):
            continue
        print(path.stem, flush=True)
        with tempfile.TemporaryDirectory(prefix="sonde_numerics_") as folder:
            problem = problem_of(path, folder)
        if problem:
            print("    FAILED:", problem)
            failed += 1
        else:
            passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
