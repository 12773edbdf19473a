"""Keras on TensorFlow: a loss averaged over a mask that is empty in one batch."""
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import numpy as np
import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="CONCISE_HEALTH", circular_buffer_size=-1)


def masked(y, p):
    mask = tf.cast(y > 0, tf.float32)
    return tf.reduce_sum(mask * tf.square(y - p)) / tf.reduce_sum(mask)  # FAULT: RealDiv


keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1)])
model.compile("sgd", masked)
x = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")
y = np.abs(x.sum(1, keepdims=True))
y[24:32] = 0
model.fit(x, y, batch_size=8, epochs=1, shuffle=False, verbose=0)
