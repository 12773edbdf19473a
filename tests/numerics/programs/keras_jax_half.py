"""Keras on jax in mixed float16: a layer's product is too large."""
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

import sonde.keras

keras.mixed_precision.set_global_policy("mixed_float16")


class Energy(keras.layers.Layer):
    def call(self, x):
        return keras.ops.mean(keras.ops.square(x), axis=-1, keepdims=True)  # FAULT: mul|square|integer_pow


keras.utils.set_random_seed(2)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), Energy(), keras.layers.Dense(1, dtype="float32")])
model.compile(keras.optimizers.SGD(1e-6), "mae")
x = np.random.default_rng(2).normal(size=(48, 4)).astype("float32")
x[32:] *= 500
model.fit(x, x[:, 0], batch_size=16, epochs=1, shuffle=False, verbose=0, callbacks=[sonde.keras.Numerics(sys.argv[1])])
