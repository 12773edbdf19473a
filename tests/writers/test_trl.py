"""trl's GRPO trainer on a tiny model made here: its curves through sonde.patch(), its completions read where they lie (./test --all)."""

import json
import subprocess
import sys
import textwrap

import pytest
from conftest import PROGRAM

PROGRAM_TEXT = """
    import sys
    import sonde
    sonde.patch()
    import torch
    from datasets import Dataset
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
    from trl import GRPOConfig, GRPOTrainer

    out, form = sys.argv[1:]
    letters = ["<pad>", "<eos>", *map(chr, range(32, 127))]
    raw = Tokenizer(models.WordLevel({text: i for i, text in enumerate(letters)}, unk_token="<pad>"))
    raw.pre_tokenizer, raw.decoder = pre_tokenizers.Split("", "isolated"), decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, pad_token="<pad>", eos_token="<eos>", padding_side="left")
    tokenizer.chat_template = "{% for m in messages %}{{ m['role'] }}:{{ m['content'] }}{{ eos_token }}{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"
    shape = dict(n_layer=1, n_head=2, n_embd=16, n_positions=128, bos_token_id=1, eos_token_id=1, pad_token_id=0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(letters), **shape))

    def vowels(completions, **_):
        texts = [one if isinstance(one, str) else one[0]["content"] for one in completions]
        return [sum(c in "aeiou" for c in text) / 8 for text in texts]

    prompts = [f"{i}+{i}=" for i in range(4)]
    rows = prompts if form == "text" else [[{"role": "user", "content": one}] for one in prompts]
    options = dict(max_steps=2, per_device_train_batch_size=4, num_generations=4, max_completion_length=8, logging_steps=1)
    config = GRPOConfig(output_dir=out, log_completions=True, report_to="tensorboard", use_cpu=True, save_strategy="no", bf16=False, **options)
    GRPOTrainer(model=model, processing_class=tokenizer, reward_funcs=vowels, args=config, train_dataset=Dataset.from_dict({"prompt": rows})).train()
"""


@pytest.mark.parametrize("form", ["text", "chat"])
def test_grpo(tmp_path, form):
    pytest.importorskip("trl")
    if not PROGRAM.exists():
        pytest.skip("build/release has no sonde")
    code = textwrap.dedent(PROGRAM_TEXT)
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "out"), form], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]

    def ask(*words):
        return json.loads(subprocess.run([PROGRAM, "ask", tmp_path, *words, "--json"], check=True, capture_output=True, text=True).stdout)

    ((run, name, _),) = ask("tables")["rows"]
    assert (run, name) == ("out", "completions")
    rows = ask("tables", "run=out", "table=completions", "limit=100", "max_tokens=20000")
    columns = rows["columns"]
    assert rows["different_steps"] == 2 and len(rows["rows"]) == 8
    assert {"prompt", "completion", "vowels", "advantage"} <= set(columns)
    tags = {row[0] for row in ask("list_tags", "max_tokens=20000")["rows"]}
    assert {"train/loss", "train/reward"} <= tags
