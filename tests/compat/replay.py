#!/usr/bin/env python3
"""Replays recorded answers of TensorBoard against Sonde; prints "N passed, M failed", one test a request.

Every log directory of tests/data/corpus against the answers in tests/compat/goldens; --kept replays the few of
tests/compat/data instead. Differences that are meant are listed with their reason in allow.txt.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from pathlib import Path

import golden

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = Path(os.environ.get("SONDE_BINARY", ROOT / "build/release/sonde"))


def allowed(name="allow.txt"):
    rules = []
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            folder, case, reason = line.split(None, 2)
            rules.append((re.compile(folder + r"\Z"), re.compile(case), reason))
    return rules


class Server:
    """Sonde on a free port, loaded; ends with the block."""

    def __init__(self, logdir):
        self.process = subprocess.Popen([PROGRAM, "--logdir", logdir, "--port", "0"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")

    def __enter__(self):
        try:
            return self.ready()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_):
        self.stop()

    def ready(self):
        for line in self.process.stdout:
            if found := re.search(r"http://[\w.\[\]:]+:(\d+)", line):
                base = "http://127.0.0.1:" + found[1]
                break
        else:
            raise RuntimeError("Sonde did not start")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with urllib.request.urlopen(base + "/api/v1/diagnosis", timeout=30) as answer:
                if not json.load(answer)["progress"]["loading"]:
                    return base
            time.sleep(0.02)
        raise RuntimeError("Sonde did not finish loading")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def replay_kept():
    rules, passed, failed = allowed(), 0, 0
    with tempfile.TemporaryDirectory(prefix="sonde_compat_") as scratch:
        for recording in sorted((HERE / "data").glob("*.jsonl.gz")):
            name = recording.name.removesuffix(".jsonl.gz")
            with tarfile.open(HERE / "data" / (name + ".tar.gz")) as archive:
                archive.extractall(scratch)
            with Server(os.path.join(scratch, name)) as base:
                for case, problem in golden.replay(base, golden.load(recording)):
                    if problem and not any(f.match(name) and c.search(case) for f, c, _ in rules):
                        print(f"{name}: {case[:200]}\n    {problem}")
                        failed += 1
                    else:
                        passed += 1
    return passed, failed


def replay_all():
    tool = [sys.executable, HERE / "replay_goldens.py", "--corpus", ROOT / "tests/data/corpus", "--goldens", HERE / "goldens", "--serve", f"{PROGRAM} --logdir {{logdir}} --port {{port}}",
            "--allow", HERE / "allow.txt", "--json"]
    run = subprocess.run(tool, stdout=subprocess.PIPE, text=True)
    result = json.loads(run.stdout)
    for item in result["differences"]:
        if item["verdict"] == "differ":
            print(f"{item['dir']}: {item['case'][:200]}\n    {item['detail']}")
    for name in result["broken"]:
        print(f"{name}: the server did not come up")
    totals = result["totals"]
    share = totals["allowed"] / max(totals["cases"], 1)
    print(f"{totals['cases']} requests, {totals['match']} match, {totals['allowed']} differ as meant ({share:.1%})")
    too_many = share > 0.02
    if too_many:
        print("more than 2 % of the requests are in allow.txt")
    bad = totals["differ"] + len(result["broken"]) + too_many
    return totals["cases"] - totals["differ"], bad


def main():
    passed, failed = replay_kept() if "--kept" in sys.argv else replay_all()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
