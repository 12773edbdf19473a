"""The MCP server beside the real client of the PyPI package `mcp`, over stdio and HTTP, in both eras.

The package is installed into an environment of its own (.venv-mcp, or the one SONDE_VENV_MCP names).
"""

import asyncio
import json
import os
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
    finally:
        server.stop()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
