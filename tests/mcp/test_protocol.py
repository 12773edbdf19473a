"""What the Model Context Protocol asks of a server, in both eras, over stdio and HTTP."""

import http.client
import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "http"))
from client import ENVELOPE, ROOT, SONDE, Client
from server import Server

LOGS = ROOT / "tests/data/corpus/tf2_scalars"


@pytest.fixture(scope="module")
def client():
    one = Client(LOGS)
    yield one
    one.close()


def test_discover(client):
    result = client.request("server/discover")["result"]
    assert result["supportedVersions"] == ["2026-07-28"] and "tools" in result["capabilities"]
    assert result["resultType"] == "complete" and result["ttlMs"] >= 0 and result["cacheScope"] in ("public", "private")
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "sonde"


@pytest.mark.parametrize(("asked", "given"), [("2025-11-25", "2025-11-25"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")])
def test_handshake(client, asked, given):
    result = client.request("initialize", {"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}, modern=False)["result"]
    assert result["protocolVersion"] == given and result["serverInfo"]["name"] == "sonde" and result["instructions"]
    client.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')  # has no answer
    assert client.request("ping", modern=False)["result"] == {}


@pytest.mark.parametrize("modern", [True, False])
def test_tools(client, modern):
    result = client.request("tools/list", modern=modern)["result"]
    assert ("resultType" in result) == modern
    names = [tool["name"] for tool in result["tools"]]
    assert len(names) == len(set(names)) >= 15
    for tool in result["tools"]:
        assert tool["description"] and tool["inputSchema"]["type"] == "object" and tool["annotations"]["readOnlyHint"]
        assert set(tool["inputSchema"].get("required", [])) <= set(tool["inputSchema"]["properties"])


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", -32700),
        ("[]", -32600),
        ('"text"', -32600),
        ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":1}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":"none"}', -32601),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"none"}}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"overview","arguments":[]}}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}', -32602),
        ("[" * 10000, -32700),
    ],
)
def test_errors(client, message, code):
    assert client.raw(message)["error"]["code"] == code


def test_a_version_from_the_future(client):
    meta = ENVELOPE | {"io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    error = client.raw(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}))["error"]
    assert error["code"] == -32022 and error["data"] == {"supported": ["2026-07-28"], "requested": "2099-01-01"}


def test_errors_of_a_tool_are_results(client):
    for arguments in ({"tag": "none"}, {"tag": 5}, {"tag": "epoch_loss", "filter": "("}, {"tag": "epoch_loss", "runs": ["none"]}):
        result = client.request("tools/call", {"name": "query_series", "arguments": arguments})["result"]
        assert result["isError"] and len(result["content"][0]["text"]) > 10


def test_answers_keep_to_their_budget_and_say_what_is_missing():
    client = Client(ROOT / "tests/data/corpus")
    for tool in ("overview", "list_tags", "list_runs", "hparams", "diagnosis", "profiles", "profile_report"):
        for tokens in (200, 2000):
            answer = client.request("tools/call", {"name": tool, "arguments": {"max_tokens": tokens}})["result"]["content"][0]["text"]
            assert len(answer.encode()) <= tokens * 4 * 1.5 + 600, (tool, tokens, len(answer))
            found = json.loads(answer)
            if "rows" in found and len(found["rows"]) < found["total"]:
                assert f"of {found['total']} rows are left out" in found["left_out"]
    series = client.call("query_series", tag="loss", runs=["edge_10k/long"], max_tokens=300)["runs"][0]
    assert not series["exact"] and "10000 points" in series["thinned"]
    exact = client.call("query_series", tag="loss", runs=["edge_10k/long"], steps=[5000, 5009])["runs"][0]
    assert exact["exact"] and [p[0] for p in exact["points"]] == list(range(5000, 5010))
    client.close()


def post(port, body, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/mcp", body, {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"} | headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    is_json = answer.getheader("Content-Type", "").startswith("application/json")
    return answer.status, json.loads(text) if text and is_json else None


def test_http():
    server = Server(logdir=LOGS)
    try:
        body = {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "overview", "arguments": {}, "_meta": ENVELOPE}}
        modern = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "overview"}
        status, answer = post(server.port, json.dumps(body), **modern)
        assert status == 200 and answer["id"] == "a" and not answer["result"]["isError"]
        for name, value in (("mcp-method", "tools/list"), ("mcp-name", "other"), ("mcp-protocol-version", "2099-01-01")):
            status, answer = post(server.port, json.dumps(body), **modern | {name: value})
            assert status == 400 and answer["error"]["code"] == -32020
        status, answer = post(server.port, json.dumps(body | {"method": "none"}), **modern | {"mcp-method": "none"})
        assert status == 404 and answer["error"]["code"] == -32601
        assert post(server.port, '{"jsonrpc":"2.0","method":"notifications/initialized"}') == (202, None)
        status, answer = post(server.port, '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}')
        assert status == 200 and answer["result"]["protocolVersion"] == "2025-11-25"
        assert post(server.port, "{")[0] == 400
        assert post(server.port, json.dumps(body), Origin="http://evil.example", **modern)[0] == 403
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        connection.request("GET", "/mcp")
        assert connection.getresponse().status == 405
        connection.close()
    finally:
        server.stop()


def test_ask():
    run = subprocess.run([SONDE, "ask", str(LOGS), "list_runs", "metrics=epoch_loss:min", "--json"], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout)["columns"][2] == "metric:epoch_loss:min"
    table = subprocess.run([SONDE, "ask", str(LOGS), "list_runs"], capture_output=True, text=True, check=True)
    assert "validation" in table.stdout
    assert "query_series" in subprocess.run([SONDE, "ask", "--list"], capture_output=True, text=True, check=True).stdout
    bad = subprocess.run([SONDE, "ask", str(LOGS), "nothing"], capture_output=True, text=True, check=False)
    assert bad.returncode == 2 and "no tool 'nothing'" in bad.stderr
