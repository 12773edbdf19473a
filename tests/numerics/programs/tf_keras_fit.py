"""Keras' fit on TensorFlow with a loss that takes the log of what a ReLU gives."""
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="FULL_HEALTH", circular_buffer_size=-1)
import keras


def log_error(y, p):
    ratio = tf.math.log(p)  # FAULT: Log
    return tf.reduce_mean(tf.abs(ratio - y))


keras.utils.set_random_seed(3)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(6), keras.layers.Dense(1, activation="relu")])
model.compile("sgd", log_error)
x = tf.random.stateless_normal((64, 4), (1, 2))
model.fit(x, tf.reduce_sum(x, 1), batch_size=16, epochs=1, verbose=0)
