"""A run in one line: config, curves, a table of rollouts with token values and conversations, console output, system metrics."""

import sys
import time

import numpy as np

import sonde


def main(folder: str) -> None:
    rng = np.random.default_rng(7)
    config = {"lr": 1e-5, "kl": 0.02, "model": {"name": "toy", "layers": 4}, "api_key": "never written"}
    with sonde.init(project="rl", name="grpo", config=config, dir=folder, system=0.2, tags=["example"]) as run:
        for step in range(40):
            skill = 1 - np.exp(-step / 15)
            rewards = rng.random(4) < skill
            run.log({"reward/mean": float(rewards.mean()), "kl": 0.02 + 0.001 * step, "length": 20 + step}, step=step)
            print(f"\x1b[32mstep {step:3d}\x1b[0m reward {rewards.mean():.2f}")
            if step % 10 == 0:
                run.log({"rollouts": rollouts(rng, step, rewards)}, step=step)
            time.sleep(0.02)
        print("done; the best answers were logged", file=sys.stderr)
        run.alert("training finished", f"mean reward {rewards.mean():.2f}")


def rollouts(rng: np.random.Generator, step: int, rewards: np.ndarray) -> sonde.Table:
    """Four answers to one prompt, as GRPO samples them."""
    table = sonde.Table(["prompt", "answer", "reward", "advantage", "conversation", "board"])
    for number, right in enumerate(rewards):
        words = ["Two", " and", " two", " make", " four" if right else f" {3 + number}", "."]
        table.add(
            "What is 2 + 2?",
            sonde.Tokens(words, logprob=-rng.exponential(1.0, len(words)), entropy=rng.random(len(words))),
            float(right),
            float(right - rewards.mean()),
            [
                {"role": "system", "content": "You are a calculator."},
                {"role": "user", "content": "What is 2 + 2?"},
                {"role": "assistant", "content": None, "tool_calls": [{"name": "add", "arguments": {"a": 2, "b": 2}}]},
                {"role": "tool", "content": "4"},
                {"role": "assistant", "content": "".join(words)},
            ],
            sonde.Image(rng.integers(0, 255, (24, 24, 3), dtype=np.uint8), caption=f"step {step}"),
        )
    return table


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/rollouts")
