"""Keras on TensorFlow: a distance of two equal points has no slope."""
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import numpy as np

import sonde.keras


def distance(y, p):
    return keras.ops.mean(keras.ops.sqrt(keras.ops.sum(keras.ops.square(y - p), axis=-1)))  # FAULT: Sqrt|SqrtGrad|RealDiv|Mul


keras.utils.set_random_seed(3)
inputs = keras.Input((2,))
model = keras.Model(inputs, keras.layers.Dense(2, use_bias=False, kernel_initializer="ones")(inputs))
model.compile(keras.optimizers.SGD(1e-3), distance)
x = np.random.default_rng(3).normal(size=(32, 2)).astype("float32")
x[16] = 0
y = x * 2
model.fit(x, y, batch_size=8, epochs=1, shuffle=False, verbose=0, callbacks=[sonde.keras.Numerics(sys.argv[1])])
