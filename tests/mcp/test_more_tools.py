"""Tools beyond numbers: a chart as an image, numerics, alerts, and writing, which has to be allowed."""

import base64
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from client import ROOT, SONDE, Client

CORPUS = ROOT / "tests/data/corpus"


def ask(*words):
    return subprocess.run([SONDE, "ask", *map(str, words)], capture_output=True, text=True, timeout=60, check=False)


def test_a_chart_is_an_image():
    client = Client(CORPUS / "tf2_scalars")
    arguments = {"tag": "epoch_accuracy", "width": 400, "height": 300}
    text, image = client.request("tools/call", {"name": "chart", "arguments": arguments})["result"]["content"]
    assert [one["run"] for one in json.loads(text["text"])["lines"]] == ["train", "validation"]
    assert image["type"] == "image" and image["mimeType"] == "image/png"
    png = base64.b64decode(image["data"], validate=True)
    assert png.startswith(b"\x89PNG") and struct.unpack(">II", png[16:24]) == (400, 300)
    missing = client.request("tools/call", {"name": "chart", "arguments": {"tag": "none"}})["result"]
    assert missing["isError"] and len(missing["content"]) == 1
    client.close()


def test_a_chart_from_a_shell(tmp_path):
    made = tmp_path / "chart.png"
    assert (
        ask(CORPUS / "tf2_scalars", "chart", "tag=epoch_accuracy", "x=relative", "log=true", "--png", made).returncode
        == 0
    )
    assert made.read_bytes().startswith(b"\x89PNG")
    assert ask(CORPUS / "tf2_scalars", "overview", "--png", made).returncode == 2


def test_numerics():
    client = Client(CORPUS / "debugger_v2")
    found = client.call("numerics")
    assert "`Log` at gen_tf.py:401" in found["sentence"] and found["first_fault"]["op"] == "Log"
    assert ["bad", 0, "Log", "NaN"] in found["rows"]
    client.close()


def test_alerts_and_their_state(tmp_path):
    logs = tmp_path / "logs"
    shutil.copytree(CORPUS / "tf2_scalars", logs)
    (logs / "alerts.yaml").write_text("low:\n  when: epoch_accuracy > -1\n")
    client = Client(logs)
    found = client.call("alerts")
    assert found["rules"] == 1 and {row[1] for row in found["rows"]} == {"train", "validation"}
    assert {row[5] for row in found["rows"]} == {"open"}
    client.close()
    (logs / ".sonde").mkdir()
    (logs / ".sonde/sidecar.json").write_text(
        json.dumps({"sonde": 1, "settings": {"alerts": {"low\ntrain\nepoch_accuracy": "silenced"}}})
    )
    answer = json.loads(ask(logs, "alerts", "run=train", "--json").stdout)
    assert [row[5] for row in answer["rows"]] == ["silenced"]


@pytest.mark.parametrize("allowed", [False, True])
def test_writing_has_to_be_allowed(tmp_path, allowed):
    logs = tmp_path / "logs"
    shutil.copytree(CORPUS / "tf2_scalars", logs)
    before = {path: path.read_bytes() for path in logs.rglob("*") if path.is_file()}
    client = Client(logs, *(["--allow-write"] if allowed else []))
    tools = {tool["name"]: tool for tool in client.request("tools/list")["result"]["tools"]}
    assert ("annotate_run" in tools) == allowed
    asked = {"name": "annotate_run", "arguments": {"run": "train", "note": "diverged", "tags": ["bad"]}}
    answer = client.request("tools/call", asked)
    kept = logs / ".sonde/sidecar.json"
    words = (logs, "annotate_run", "run=validation", "note=kept")
    assert ask(*words, *(["--allow-write"] if allowed else [])).returncode == (0 if allowed else 2)
    if allowed:
        assert not tools["annotate_run"]["annotations"]["readOnlyHint"]
        assert json.loads(kept.read_text())["runs"]["train"] == {"note": "diverged", "tags": ["bad"]}
        assert json.loads(kept.read_text())["runs"]["validation"]["note"] == "kept"
        assert client.request("tools/call", {"name": "annotate_run", "arguments": {"run": "none", "note": ""}})[
            "result"
        ]["isError"]
    else:
        assert "error" in answer and not kept.exists()
    client.close()
    assert all(path.read_bytes() == content for path, content in before.items())


def test_the_skill_names_tools_that_exist():
    skill = subprocess.run([SONDE, "mcp", "--skill"], capture_output=True, text=True, timeout=30, check=True).stdout
    assert skill.startswith("---\nname: sonde\n")
    listed = ask("--list").stdout
    for name in (
        "overview",
        "list_runs",
        "compare_runs",
        "query_series",
        "find_changes",
        "chart",
        "alerts",
        "numerics",
        "console",
        "diagnosis",
        "tables",
        "profile_report",
    ):
        assert f"`{name}" in skill and f"\n{name}" in f"\n{listed}", name
