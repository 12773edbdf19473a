"""A second source file of the dumps: layers that tf_program.py calls."""

import tensorflow as tf


def scaled(x, by):
    return tf.math.divide(x, by)


@tf.function
def inner(x):
    y = tf.nn.relu(x - 1.0)
    return tf.math.log(y) * 0.5


class Layer(tf.Module):
    def __init__(self):
        super().__init__()
        self.weight = tf.Variable([[1.0, -2.0], [0.5, 0.25]])

    def __call__(self, x):
        return tf.tanh(x @ self.weight)
