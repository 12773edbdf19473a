"""Keras on jax: a loss of one's own takes the log of what may be zero."""
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

import sonde.keras


def relative(y, p):
    share = keras.ops.relu(p)
    return keras.ops.mean(keras.ops.square(keras.ops.log(share) - y))  # FAULT: log


keras.utils.set_random_seed(5)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(1e-3), relative)
x = np.random.default_rng(1).normal(size=(64, 3)).astype("float32")
model.fit(x, x.sum(1), batch_size=16, epochs=2, verbose=0, callbacks=[sonde.keras.Numerics(sys.argv[1])])
