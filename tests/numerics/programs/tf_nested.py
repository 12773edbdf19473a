"""A function inside a function divides by what has become zero; only whether, not what, is recorded."""
import sys

import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="CURT_HEALTH", circular_buffer_size=-1)


@tf.function
def ratio(a, b):
    return a / b  # FAULT: RealDiv


@tf.function
def model(x, n):
    y = tf.nn.tanh(x)
    y = y * 2.0
    return tf.reduce_sum(ratio(y, n - 2.0))


for i in range(4):
    model(tf.constant([1.0, -1.0, 0.5]), tf.constant(float(i)))
