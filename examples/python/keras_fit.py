"""model.fit with the callback: weight histograms each epoch, and a profile of batches 5 to 8 where the backend has one."""

import sys

import keras
import numpy as np

import sonde.hparams as hp
import sonde.keras


def main(folder: str) -> None:
    keras.utils.set_random_seed(7)
    rng = np.random.default_rng(7)
    x = rng.random((600, 8, 8, 1)).astype(np.float32)
    y = (x.mean(axis=(1, 2, 3)) > 0.5).astype(np.int32)
    model = keras.Sequential(
        [
            keras.layers.Input((8, 8, 1)),
            keras.layers.Conv2D(4, 3, activation="relu", name="conv"),
            keras.layers.Flatten(),
            keras.layers.Dense(16, activation="relu", name="hidden"),
            keras.layers.Dense(2, activation="softmax", name="classes"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(
        x,
        y,
        epochs=4,
        batch_size=32,
        validation_split=0.2,
        verbose=0,
        callbacks=[
            sonde.keras.TensorBoard(folder, histogram_freq=1, write_images=True, profile_batch=(5, 8)),
            hp.KerasCallback(folder, {"optimizer": "adam", "batch": 32}),
        ],
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "logs/keras_fit")
