"""Own training loop with tf.summary's calls: logistic regression on two classes, scalars, images and a confusion matrix."""

import sys

import numpy as np

from sonde import summary


def confusion_matrix(truth: np.ndarray, guess: np.ndarray, cell: int = 20) -> np.ndarray:
    """[1, h, w, 3] picture: blue on the diagonal is right, red beside it is wrong."""
    counts = np.zeros((2, 2))
    np.add.at(counts, (truth, guess), 1)
    share = counts / counts.sum(axis=1, keepdims=True)
    picture = np.ones((2, 2, 3))
    for row in range(2):
        for column in range(2):
            ink = [1, 1, 0] if row == column else [0, 1, 1]
            picture[row, column] -= share[row, column] * np.array(ink)
    return picture.repeat(cell, 0).repeat(cell, 1)[None].astype(np.float32)


def main(folder: str) -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 400)
    images = np.clip(rng.normal(0.3, 0.2, (400, 8, 8)) + labels[:, None, None] * np.tri(8) * 0.5, 0, 1)
    x = images.reshape(400, -1)
    weights, bias = np.zeros(64), 0.0
    train, test = summary.create_file_writer(folder + "/train"), summary.create_file_writer(folder + "/test")

    with train.as_default():
        summary.image("25 training examples", images[:25, :, :, None].astype(np.float32), step=0, max_outputs=25)
    for epoch in range(20):
        for at in range(0, 300, 30):
            rows = slice(at, at + 30)
            guess = 1 / (1 + np.exp(-(x[rows] @ weights + bias)))
            error = guess - labels[rows]
            weights -= 0.1 * x[rows].T @ error / 30
            bias -= 0.1 * error.mean()
        for writer, rows in ((train, slice(0, 300)), (test, slice(300, 400))):
            chance = np.clip(1 / (1 + np.exp(-(x[rows] @ weights + bias))), 1e-7, 1 - 1e-7)
            with writer.as_default(step=epoch):
                summary.scalar("loss", -np.mean(np.where(labels[rows] == 1, np.log(chance), np.log(1 - chance))))
                summary.scalar("accuracy", np.mean((chance > 0.5) == labels[rows]))
                summary.image("confusion matrix", confusion_matrix(labels[rows], (chance > 0.5).astype(int)))
                summary.pr_curve("precision and recall", labels[rows], chance)
        with train.as_default(step=epoch):
            summary.histogram("weights", weights)
    train.close()
    test.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/custom_loop")
