#!/usr/bin/env python3
"""Soak: runs are made, written, rotated and removed under load; memory, descriptors and threads must be flat.

    tests/engine/soak.py [--seconds 60]

Prints a line every tenth of the time. Fails when the second half of the time ends with more than 3 MB or 10 % above the
middle, or with more descriptors or threads; an answer of 500 or a lost connection fails at once. SIGTERM comes while
requests are under way: every answer that was begun must arrive whole.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from event_files import scalar, text

SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build/release/sonde"))
TARGETS = ["/api/v1/runs", "/api/v1/tags", "/api/v1/info", "/data/plugin/scalars/tags", "/data/runs"]


def state_of(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return {"rss_mb": int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024, "threads": int(re.search(r"Threads:\s+(\d+)", status)[1]), "descriptors": len(os.listdir(f"/proc/{pid}/fd"))}


def churn(logs, cycle):
    """One run comes and an old one goes; another one's file is rotated."""
    run = logs / f"group{cycle % 7}" / f"run{cycle}"
    run.mkdir(parents=True)
    (run / "events.out.tfevents.1700000000.host").write_bytes(b"".join(scalar(f"tag{cycle % 50}/loss", step, step) for step in range(20)) + text("notes", 1, b"# run %d" % cycle))
    old = logs / f"group{(cycle - 20) % 7}" / f"run{cycle - 20}"
    shutil.rmtree(old, ignore_errors=True)
    still = logs / "rotated"
    still.mkdir(exist_ok=True)
    (still / "events.out.tfevents.1700000001.host").write_bytes(b"".join(scalar("loss", step, cycle) for step in range(cycle % 30 + 1)))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--seconds", type=float, default=60)
    seconds = arguments.parse_args().seconds
    folder = tempfile.TemporaryDirectory()
    logs = Path(folder.name) / "logs"
    logs.mkdir()
    server = subprocess.Popen([SONDE, "--logdir", str(logs), "--port", "0"], stderr=subprocess.PIPE, text=True, env={**os.environ, "XDG_STATE_HOME": folder.name})
    for line in server.stderr:
        if found := re.search(r"at http://localhost:(\d+)/", line):
            port = int(found[1])
            break
    threading.Thread(target=lambda: [None for _ in server.stderr], daemon=True).start()
    client = http.client.HTTPConnection("localhost", port, timeout=60)
    begin, cycle, asked, states, problems = time.monotonic(), 0, 0, [], []
    while (now := time.monotonic() - begin) < seconds:
        churn(logs, cycle)
        cycle += 1
        for target in TARGETS:
            client.request("GET", target)
            reply = client.getresponse()
            reply.read()
            asked += 1
            if reply.status >= 500:
                problems.append(f"{target}: {reply.status}")
        if len(states) < now / seconds * 10:
            states.append(state_of(server.pid))
            print(f"{now:7.0f} s {cycle:7} cycles {asked:8} requests  {states[-1]['rss_mb']:7.1f} MB {states[-1]['descriptors']:4} descriptors {states[-1]['threads']:4} threads", flush=True)
    states.append(state_of(server.pid))
    middle, last = states[len(states) // 2], states[-1]
    print(f"   end  {cycle:7} cycles {asked:8} requests  {last['rss_mb']:7.1f} MB {last['descriptors']:4} descriptors {last['threads']:4} threads")
    if last["rss_mb"] > max(middle["rss_mb"] * 1.1, middle["rss_mb"] + 3):
        problems.append(f"memory grew from {middle['rss_mb']:.1f} to {last['rss_mb']:.1f} MB in the second half")
    for name in ("descriptors", "threads"):
        if last[name] > middle[name] + 2:
            problems.append(f"{name} grew from {middle[name]} to {last[name]}")
    # An answer that was begun before SIGTERM arrives whole.
    broken = []

    def ask():
        for _ in range(1000):
            connection = http.client.HTTPConnection("localhost", port, timeout=20)
            try:
                connection.request("GET", "/api/v1/runs")
                reply = connection.getresponse()
            except (OSError, http.client.HTTPException):
                return  # not begun
            try:
                json.loads(reply.read())
            except Exception as error:
                broken.append(repr(error))
                return

    askers = [threading.Thread(target=ask) for _ in range(4)]
    for asker in askers:
        asker.start()
    time.sleep(0.3)
    server.send_signal(signal.SIGTERM)
    code = server.wait(timeout=20)
    for asker in askers:
        asker.join()
    if code != 0 or broken:
        problems.append(f"SIGTERM under load: exit {code}, broken answers {broken}")
    for problem in problems:
        print(problem)
    print(f"{1 if not problems else 0} passed, {len(problems)} failed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
