"""Metrics of your own at every step: default writer and step, recording every tenth step, nested names."""

import sys

import numpy as np

from sonde import summary


def main(folder: str) -> None:
    rng = np.random.default_rng(5)
    writer = summary.create_file_writer(folder)
    writer.set_as_default()
    position = np.zeros(2)
    for step in range(500):
        summary.experimental.set_step(step)
        move = rng.normal(size=2)
        position = position + move
        with summary.name_scope("walk"):
            summary.scalar("distance", float(np.hypot(*position)))
            with summary.record_if(step % 10 == 0):
                summary.scalar("stride", float(np.hypot(*move)))
        if step % 100 == 0:
            summary.text("note", f"At step {step} the walker is at **{position.round(1).tolist()}**.")
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/step_metrics")
