"""The MCP server beside the real client of the PyPI package `mcp` and npm's inspector, over stdio and HTTP, in both eras.

The package is installed into an environment of its own (.venv-mcp, or the one SONDE_VENV_MCP names), the inspector into
its folder `inspector` (or the one SONDE_INSPECTOR names); without npm it is skipped.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build/release/sonde"))
LOGS = str(ROOT / "tests/data/corpus")


def place():
    given = os.environ.get("SONDE_VENV_MCP")
    folder = Path(given) if given else ROOT / ".venv-mcp"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "mcp>=2.3"], check=True)
    return str(python)


def inspector():
    """The inspector's program; None without npm."""
    given = os.environ.get("SONDE_INSPECTOR")
    folder = Path(given) if given else ROOT / ".venv-mcp" / "inspector"
    program = folder / "node_modules/.bin/mcp-inspector"
    if not program.exists():
        if shutil.which("npm") is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--silent", "--prefix", str(folder), "@modelcontextprotocol/inspector"], check=True)
    return program


def inspect(program, *target):
    """What an agent's author would try first: the list of tools, an answer, and a question that makes no sense."""

    def ask(*words):
        done = subprocess.run([program, "--cli", *target, "--method", *words], capture_output=True, text=True, timeout=120, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else done.stdout + done.stderr

    tools = {tool["name"]: tool for tool in ask("tools/list")["tools"]}
    assert len(tools) >= 15 and all(tool["inputSchema"]["type"] == "object" for tool in tools.values())
    words = ["tools/call", "--tool-name", "query_series", "--tool-arg", "tag=loss"]
    answer = ask(*words, "--tool-arg", 'runs=["edge_10k/exactly_1000"]', "--tool-arg", "detail=summary")
    assert json.loads(answer["content"][0]["text"])["runs"][0]["summary"]["mean"] == 499.5
    assert "no such run" in json.dumps(ask("tools/call", "--tool-name", "query_series", "--tool-arg", "tag=none"))


async def talk(target, mode):
    from mcp import Client

    async with Client(target, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) >= 15, len(tools)
        answer = await client.call_tool("query_series", {"tag": "loss", "runs": ["edge_10k/exactly_1000"], "detail": "summary"})
        assert not answer.is_error
        assert json.loads(answer.content[0].text)["runs"][0]["summary"]["mean"] == 499.5
        refused = await client.call_tool("query_series", {"tag": "none"})
        assert refused.is_error and "no such run" in refused.content[0].text
        return client.protocol_version


def main():
    if "--inside" not in sys.argv:
        return subprocess.run([place(), __file__, "--inside"], check=False).returncode
    from mcp.client.stdio import StdioServerParameters
    from mcp.types import LATEST_PROTOCOL_VERSION

    sys.path.insert(0, str(ROOT / "tests/http"))
    from server import Server

    server = Server(logdir=LOGS)
    passed = failed = 0
    try:
        for target in (StdioServerParameters(command=SONDE, args=["mcp", LOGS]), f"http://127.0.0.1:{server.port}/mcp"):
            for mode, version in (("auto", LATEST_PROTOCOL_VERSION), ("legacy", "2025-11-25")):
                try:
                    spoken = asyncio.run(talk(target, mode))
                    assert spoken == version, (spoken, version)
                    passed += 1
                except Exception as error:
                    print(f"{target} {mode}: {error!r}")
                    failed += 1
        program = inspector()
        for target in ((SONDE, "mcp", LOGS), (f"http://127.0.0.1:{server.port}/mcp", "--transport", "http")) if program else ():
            try:
                inspect(program, *target)
                passed += 1
            except Exception as error:
                print(f"inspector {target}: {error!r}")
                failed += 1
        if program is None:
            print("skipped: npm, for the inspector, is not installed")
    finally:
        server.stop()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
