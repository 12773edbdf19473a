"""Keras on torch: a layer of one's own scales by 1 / deviation; a feature becomes constant."""
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

import sonde.keras


class Scale(keras.layers.Layer):
    def call(self, x):
        variance = keras.ops.var(x, axis=0, keepdims=True)
        factor = keras.ops.rsqrt(variance)  # FAULT: rsqrt
        return x * factor


keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((3,)), Scale(), keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(1e-3), "mse")
x = np.random.default_rng(1).normal(size=(64, 3)).astype("float32")
x[32:48, 1] = 7
model.fit(x, x.sum(1), batch_size=16, epochs=1, shuffle=False, verbose=0, callbacks=[sonde.keras.Numerics(sys.argv[1])])
