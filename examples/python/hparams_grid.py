"""A grid over two hyperparameters: one run a trial, described by an experiment record."""

import sys

import numpy as np

import sonde.hparams as hp
from sonde import summary

RATE = hp.HParam("learning_rate", hp.Discrete([0.01, 0.1, 0.5]), description="step length")
MOMENTUM = hp.HParam("momentum", hp.RealInterval(0.0, 0.9))
OPTIMIZER = hp.HParam("start", hp.Discrete(["zero", "random"]))


def trial(folder: str, values: dict[hp.HParam, object]) -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(200, 3))
    y = x @ np.array([1.0, -2.0, 0.5]) + rng.normal(0, 0.1, 200)
    w = np.zeros(3) if values[OPTIMIZER] == "zero" else rng.normal(size=3)
    velocity = np.zeros(3)
    with summary.create_file_writer(folder).as_default():
        hp.hparams(values)
        for step in range(50):
            velocity = float(values[MOMENTUM]) * velocity - float(values[RATE]) * 2 * x.T @ (x @ w - y) / 200
            w = w + velocity
            summary.scalar("loss", np.mean((x @ w - y) ** 2), step=step)


def main(folder: str) -> None:
    with summary.create_file_writer(folder).as_default():
        hp.hparams_config(hparams=[RATE, MOMENTUM, OPTIMIZER], metrics=[hp.Metric("loss", display_name="Loss")])
    number = 0
    for rate in RATE.domain.values:
        for momentum in (0.0, 0.5, 0.9):
            for start in OPTIMIZER.domain.values:
                trial(f"{folder}/run-{number}", {RATE: rate, MOMENTUM: momentum, OPTIMIZER: start})
                number += 1


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/hparams")
