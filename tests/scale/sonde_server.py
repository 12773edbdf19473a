"""A server of Sonde for a test, and the questions that recordings of TensorBoard ask."""

import gzip
import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = Path(os.environ.get("SONDE_BINARY", ROOT / "build/release/sonde"))
DATA = ROOT / "tests/compat/data"


class Server:
    def __init__(self, logdir, env=None, *flags, headers=None):
        """`logdir` is a folder or an address; a list is the flags that name another place."""
        self.headers = headers or {}
        place = logdir if isinstance(logdir, list) else ["--logdir", str(logdir)]
        self.process = subprocess.Popen([PROGRAM, *place, "--port", "0", *flags], env=env, text=True,
                                        errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def __enter__(self):
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if found := re.search(r"http://[\w.\[\]:]+:(\d+)", line):
                self.base = "http://127.0.0.1:" + found[1]
                break
        else:
            raise RuntimeError("Sonde did not start: " + self.said)
        deadline = time.monotonic() + 60
        while self.json("/api/v1/diagnosis")["progress"]["loading"]:
            assert time.monotonic() < deadline, "Sonde did not finish loading"
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.said += self.process.communicate(timeout=20)[0]

    def get(self, path):
        return self.ask(path)[1]

    def ask(self, path, body=None, method=None, headers=None):
        """Status and body, whatever the status is when headers are given."""
        request = urllib.request.Request(self.base + path, body, headers if headers is not None else self.headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            if headers is None:
                raise
            return error.code, error.read()

    def json(self, path):
        return json.loads(self.get(path))

    def metric(self, name):
        return int(re.search(rf"^{name} (\d+)$", self.get("/metrics").decode(), re.M)[1])


def questions(name):
    """The GET requests of a recording that ask for data of event files."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt") as f:
        f.readline()
        cases = [json.loads(line) for line in f]
    seen = {}
    for case in cases:
        path = case["path"] + ("?" + case["query"] if case.get("query") else "")
        if case["method"] == "GET" and case["status"] == 200 and not case.get("follow") and not re.search(
                r"/(environment|logdir|window_properties|plugins_listing|projector|profile|debugger-v2)", path):
            seen[path] = True
    return list(seen)
