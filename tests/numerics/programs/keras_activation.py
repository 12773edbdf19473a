"""A custom activation takes the log of what a ReLU gives."""
import os
import sys

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

import sonde.keras


class LogUnit(keras.layers.Layer):
    def call(self, x):
        return keras.ops.log(keras.ops.relu(x))  # FAULT: log


keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8), LogUnit(), keras.layers.Dense(1)])
model.compile("sgd", "mse")
x = np.random.default_rng(0).normal(size=(64, 4))
model.fit(x, x.sum(1), batch_size=16, epochs=1, verbose=0, callbacks=[sonde.keras.Numerics(sys.argv[1])])
