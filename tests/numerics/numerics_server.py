"""Sonde on a free port, asked through TensorBoard's routes."""

import json
import os
import re
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = os.environ.get("SONDE_BINARY", str(HERE.parent.parent / "build" / "release" / "sonde"))


class Server:
    def __init__(self, folder):
        self.process = subprocess.Popen(
            [PROGRAM, "--logdir", str(folder), "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def __enter__(self):
        for line in self.process.stdout:
            if found := re.search(r"http://[\w.\[\]:]+:(\d+)", line):
                self.base = f"http://127.0.0.1:{found[1]}/data/plugin/debugger-v2/"
                return self
        raise RuntimeError("Sonde did not start")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()

    def get(self, path, **more):
        query = urllib.parse.urlencode({"run": "__default_debugger_run__", **more})
        with urllib.request.urlopen(f"{self.base}{path}?{query}", timeout=30) as answer:
            return json.load(answer)
