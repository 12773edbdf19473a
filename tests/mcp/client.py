"""A scripted client of `sonde mcp` over stdin and stdout: one JSON-RPC message a line."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build/release/sonde"))
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


class Client:
    def __init__(self, logdir, *flags):
        self.process = subprocess.Popen([SONDE, "mcp", str(logdir), *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.next_id = 0
        self.calls = self.bytes = 0

    def send(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def raw(self, text):
        self.send(text)
        return json.loads(self.process.stdout.readline())

    def request(self, method, params=None, modern=True):
        self.next_id += 1
        params = dict(params or {}) | ({"_meta": ENVELOPE} if modern else {})
        return self.raw(json.dumps({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}))

    def call(self, tool, **arguments):
        """The answer of a tool as JSON; counts calls and bytes."""
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = answer["result"]["content"][0]["text"]
        self.calls += 1
        self.bytes += len(text.encode())
        assert not answer["result"]["isError"], text
        return json.loads(text)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(30) == 0
