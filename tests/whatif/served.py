"""A server of the page for the tests: `sonde whatif`, asked over HTTP."""

import json
import os
import re
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

BINARY = os.environ.get("SONDE_BINARY", str(Path(__file__).resolve().parents[2] / "build/release/sonde"))


class Served:
    def __init__(self, *arguments: str, state: Path):
        environment = {**os.environ, "XDG_STATE_HOME": str(state)}
        self.process = subprocess.Popen([BINARY, *arguments, "--port", "0"], stderr=subprocess.PIPE, text=True, env=environment)
        said = []
        for line in self.process.stderr:
            said.append(line)
            if found := re.search(r" at (http://\S+)", line):
                self.url = found[1].rstrip("/")
                break
        else:
            raise RuntimeError("".join(said))
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def ask(self, path: str, body=None, method=None, write=True):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} | ({"Sonde-Request": "1"} if write else {})
        request = urllib.request.Request(f"{self.url}/api/v1/{path}", data=data, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                content = answer.read()
                return answer.status, json.loads(content) if content and "json" in answer.headers["Content-Type"] else content
        except urllib.error.HTTPError as problem:
            return problem.code, json.loads(problem.read() or b"{}")

    def only_set(self) -> str:
        status, answer = self.ask("whatif")
        assert status == 200 and len(answer["sets"]) == 1, answer
        return answer["sets"][0]["id"]

    def post(self, what: str, body: dict):
        status, answer = self.ask(f"whatif/{self.only_set()}/{what}", body)
        assert status in (200, 202, 204), answer
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)
