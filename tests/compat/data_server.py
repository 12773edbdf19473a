#!/usr/bin/env python3
"""Replays recorded answers of TensorBoard against TensorBoard itself running on Sonde as its data server.

TENSORBOARD_DATA_SERVER_BINARY names Sonde, --load_fast=true makes TensorBoard fail rather than fall back to its own
reader. What the protocol cannot carry is listed in allow_data_server.txt. With --all the whole corpus of the shared
folder is replayed, else some of the recordings kept in tests/compat/data. Prints "N passed, M failed", one test a request.
"""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from pathlib import Path

import golden
import replay

HERE = Path(__file__).resolve().parent
# Answers that come from TensorBoard's own plug-ins without the data server.
# Recordings of the quick run: starting TensorBoard takes seconds.
QUICK = ["edge_restart_session", "graph_raw", "hparams_experiment_raw", "tf2_images", "v1_compat"]
ELSEWHERE = re.compile(r"/data/plugin/(profile|projector|debugger-v2)/|/data/plugins_listing")


class TensorBoard:
    """TensorBoard on Sonde's engine at a free port; ends with the block."""

    def __init__(self, logdir):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        environment = os.environ | {"TENSORBOARD_DATA_SERVER_BINARY": str(replay.PROGRAM)}
        command = [sys.executable, "-m", "tensorboard.main", "--logdir", logdir, "--port", str(port), "--host", "127.0.0.1",
                   "--load_fast", "true", "--reload_interval", "1"]
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)

    def __enter__(self):
        try:
            self.wait()
            return self.base
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def wait(self):
        """Until it answers and the runs it lists have stayed the same for a second."""
        deadline, seen, since = time.monotonic() + 90, None, 0.0
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                self.log.seek(0)
                raise RuntimeError("TensorBoard stopped:\n" + self.log.read())
            try:
                with urllib.request.urlopen(self.base + "/data/runs", timeout=30) as answer:
                    runs = json.load(answer)
            except OSError:
                time.sleep(0.2)
                continue
            if runs != seen:
                seen, since = runs, time.monotonic()
            elif time.monotonic() - since > 1:
                return
            time.sleep(0.2)
        raise RuntimeError("TensorBoard did not come up")


def recordings(everything):
    """(name, recording, where its log directory comes from)"""
    shared = Path(os.environ.get("SONDE_SHARED", replay.ROOT.parent / "shared"))
    if everything and (shared / "goldens").is_dir():
        for recording in sorted((shared / "goldens").glob("*.jsonl.gz")):
            name = recording.name.removesuffix(".jsonl.gz")
            yield name, recording, shared / "corpus" / name if (shared / "corpus" / name).is_dir() else shared / "corpus" / f"{name}.tar.gz"
    else:
        for name in QUICK:
            yield name, HERE / "data" / f"{name}.jsonl.gz", HERE / "data" / f"{name}.tar.gz"


def main(arguments):
    rules = replay.allowed() + replay.allowed("allow_data_server.txt")
    only = next((a for a in arguments if not a.startswith("--")), "")
    passed = failed = meant = 0
    with tempfile.TemporaryDirectory(prefix="sonde_data_server_") as scratch:
        for name, recording, source in recordings("--all" in arguments):
            if name == "debugger_v2" or not re.search(only, name):
                continue
            logdir = source
            if source.suffix == ".gz":
                with tarfile.open(source) as archive:
                    archive.extractall(scratch)
                logdir = Path(scratch) / name
            here = [(case, reason) for folder, case, reason in rules if folder.match(name)]
            with TensorBoard(str(logdir)) as base:
                for case, problem in golden.replay(base, golden.load(recording)):
                    if ELSEWHERE.search(case) or (problem and problem.endswith(golden.FAILS_TOO)):
                        continue
                    if not problem:
                        passed += 1
                    elif any(rule.search(case) for rule, _ in here):
                        passed, meant = passed + 1, meant + 1
                    else:
                        print(f"{name}: {case[:200]}\n    {problem}", flush=True)
                        failed += 1
    print(f"{meant} differ as meant")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
