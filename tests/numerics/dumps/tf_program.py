"""Writes a dump of TensorFlow's debugger: tf_program.py FOLDER MODE BUFFER

Eager ops and functions, nested and recursive ones, loops and branches, gradients, types of several widths, tensors of
rank 0 to 8, ops with several outputs and with none, strings, and values that are NaN or infinite in each of these.
"""

import sys

import tensorflow as tf
from layers import Layer, inner, scaled

folder, mode, buffer = sys.argv[1], sys.argv[2], int(sys.argv[3])
tf.debugging.experimental.enable_dump_debug_info(folder, tensor_debug_mode=mode, circular_buffer_size=buffer)


@tf.function
def outer(x):
    y = inner(x)
    for _ in tf.range(3):
        y = y * 10.0 + inner(x)
    if tf.reduce_sum(x) > 0.0:
        y = tf.sqrt(y)
    else:
        y = tf.exp(y * 1e3)
    a, b = tf.split(y, 2)
    return a, b, tf.unique(tf.constant([1, 1, 2]))[1]


@tf.function
def wide(x):
    half = tf.cast(x, tf.float16) * tf.constant(60000.0, tf.float16)
    brain = tf.cast(x, tf.bfloat16) / tf.constant(0.0, tf.bfloat16)
    double = tf.cast(x, tf.float64) - tf.constant(float("inf"), tf.float64)
    high = tf.reshape(tf.cast(tf.range(256), tf.float32), [2] * 8) / 0.0
    whole = tf.cast(x, tf.int32) + 1
    words = tf.strings.as_string(whole)
    flags = tf.logical_and(x > 0.0, x < 2.0)
    number = tf.cast(tf.complex(x, x), tf.complex64)
    return half, brain, double, high, whole, words, flags, tf.abs(number)


@tf.function
def train(layer, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.math.log(tf.nn.relu(layer(x))))
    gradient = tape.gradient(loss, layer.weight)
    layer.weight.assign_sub(0.1 * gradient)
    return loss


layer = Layer()
x = tf.constant([0.0, 1.0, 2.0, 4.0])
print(scaled(x, 0.0).shape, tf.zeros([0, 3]).shape)
tf.debugging.assert_equal(1, 1)
for i in range(4):
    outer(x + float(i))
outer(-x)
wide(x)
for _ in range(3):
    train(layer, tf.reshape(x, [2, 2]))
tf.linalg.svd(tf.eye(3) * float("nan"))
tf.math.top_k(tf.constant([[3.0, 1.0, float("-inf")]]), k=2)
print(tf.constant("text"), tf.constant(float("nan")) * 2.0, tf.cast(x, tf.float16) * 1e5)
tf.debugging.experimental.disable_dump_debug_info()
