"""Keras on jax, an ordinary fit with dropout and normalisation."""
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

import sonde.keras

keras.utils.set_random_seed(6)
model = keras.Sequential(
    [keras.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.BatchNormalization(), keras.layers.Dropout(0.3), keras.layers.Dense(1)]
)
model.compile("adam", "mse")
x = np.random.default_rng(1).normal(size=(64, 3)).astype("float32")
model.fit(x, x.sum(1), batch_size=16, epochs=2, verbose=0, callbacks=[sonde.keras.Numerics(sys.argv[1], every=2)])
