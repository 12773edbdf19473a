"""Tables that other trainers leave beside their logs: trl's Parquet (recorded), JSON lines as verl, NeMo-RL and OpenRLHF write them."""

import json
import shutil

import pytest
from server import ROOT, running

RECORDED = ROOT / "tests/data/trackers"


def lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("samples")
    for form in ("text", "chat"):
        shutil.copytree(RECORDED / f"trl_{form}", root / f"trl_{form}" / "completions")
    shutil.copytree(ROOT / "tests/data/corpus/tf2_scalars", root / "trl_chat" / "logs")
    for step in (9, 10):
        rows = [{"input": f"{i}+{i}", "output": "4", "gts": str(2 * i), "score": float(i == 2), "step": step, "acc": float("nan")} for i in range(4)]
        lines(root / "verl/rollouts" / f"{step}.jsonl", rows)
        batch = [{"content": [f"text {i}"], "rewards": [i / 2], "token_ids": [[5, 6, 7]], "generation_logprobs": [[-0.1, -2.0, -0.3]], "idx": i} for i in range(3)]
        lines(root / "nemo/exp_001" / f"train_data_step{step}.jsonl", batch)
    lines(root / "openrlhf/generations.jsonl", [{"input": "q", "output": "long " * 100, "reward": 0.5}])
    lines(root / "log/train.jsonl", [{"step": i, "loss": 1 / (i + 1)} for i in range(5)])
    (root / "broken").mkdir()
    (root / "broken/completions_1.parquet").write_bytes(b"PAR1 no such thing PAR1")
    (root / "broken/rows.jsonl").write_bytes(b'{"prompt": "half a')
    with running(logdir=root) as found:
        yield found


def ask(server, run, table, **question):
    body = json.dumps({"run": run, "table": table, **question}).encode()
    reply = server.ask("/api/v1/tables/rows", "POST", {"Content-Type": "application/json", "Sonde-Request": "1"}, body)
    assert reply.status == 200, reply.text
    return json.loads(reply.body)


def kinds(answer):
    return {column["name"]: column["kind"] for column in answer["columns"]}


def test_list(server):
    tables = json.loads(server.ask("/api/v1/tables").body)["tables"]
    assert {(one["run"], one["name"]) for one in tables} == {
        ("trl_text", "completions"),
        ("trl_chat", "completions"),
        ("verl", "rollouts"),
        ("nemo", "exp_001/train_data"),
        (".", "openrlhf/generations"),
        (".", "broken/completions"),
    }


def test_trl_text(server):
    answer = ask(server, "trl_text", "completions", sort=["advantage", "desc"])
    assert answer["steps"] == [2, 3] and answer["total"] == 8
    assert kinds(answer) == {"step": "number", "prompt": "text", "completion": "text", "vowels": "number", "short": "number", "advantage": "number"}
    advantages = [row["cells"]["advantage"] for row in answer["rows"]]
    assert advantages == sorted(advantages, reverse=True)


def test_trl_conversations_are_nested_columns(server):
    answer = ask(server, "trl_chat", "completions", step=3)
    assert answer["matched"] == 4 and kinds(answer)["prompt"] == kinds(answer)["completion"] == "chat"
    cells = answer["rows"][0]["cells"]
    assert cells["prompt"][0]["role"] == "user" and cells["prompt"][0]["content"].endswith("=")
    assert cells["completion"][0]["role"] == "assistant"


def test_verl_rows_are_no_curves(server):
    answer = ask(server, "verl", "rollouts", filter=[{"col": "score", "min": 1}])
    assert answer["steps"] == [9, 10] and [row["cells"]["input"] for row in answer["rows"]] == ["2+2", "2+2"]
    runs = json.loads(server.ask("/api/v1/runs").body)["runs"]
    names = {run["name"] for run in runs}
    assert "log/train" in names and not any(name.startswith("verl") for name in names)


def test_nemo_batches_of_one_become_tokens(server):
    answer = ask(server, "nemo", "exp_001/train_data", step=10)
    assert answer["matched"] == 3 and kinds(answer)["token_ids"] == "tokens"
    cells = answer["rows"][1]["cells"]
    assert cells["content"] == "text 1" and cells["rewards"] == 0.5
    assert cells["token_ids"] == {"_tokens": ["5 ", "6 ", "7 "], "values": {"generation_logprobs": [-0.1, -2.0, -0.3]}}


def test_a_file_that_is_none_is_named(server):
    reply = server.ask("/api/v1/tables/rows", "POST", {"Content-Type": "application/json", "Sonde-Request": "1"}, b'{"run":".","table":"broken/completions"}')
    assert reply.status >= 400 and "completions_1.parquet" in reply.text
