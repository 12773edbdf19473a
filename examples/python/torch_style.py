"""The calls of torch.utils.tensorboard.SummaryWriter, without torch."""

import sys

import numpy as np

import sonde


def main(folder: str) -> None:
    rng = np.random.default_rng(6)
    with sonde.SummaryWriter(folder) as writer:
        for step in range(100):
            writer.add_scalar("loss/train", float(np.exp(-step / 30) + rng.normal(0, 0.02)), step)
            writer.add_scalars("waves", {"sin": np.sin(step / 10), "cos": np.cos(step / 10)}, step)
            if step % 20 == 0:
                writer.add_histogram("weights", rng.normal(step / 50, 1, 1000), step)
                writer.add_image("noise", rng.random((3, 32, 32)), step)
        writer.add_text("config", "| lr | batch |\n|---|---|\n| 0.1 | 32 |")
        writer.add_audio("tone", 0.5 * np.sin(np.arange(8000) * 0.3), sample_rate=8000)
        writer.add_video("film", rng.random((1, 8, 3, 24, 24)), fps=8)
        writer.add_pr_curve("pr", rng.integers(0, 2, 200), rng.random(200), 0)
        writer.add_mesh("cloud", rng.random((1, 200, 3)), colors=rng.integers(0, 255, (1, 200, 3)))
        writer.add_custom_scalars({"Training": {"loss": ["Multiline", ["loss/.*"]]}})
        writer.add_hparams({"lr": 0.1, "batch": 32, "optimizer": "sgd"}, {"hparam/accuracy": 0.9})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/torch_style")
