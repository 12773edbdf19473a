"""A root of a negative number inside map_fn inside a branch."""
import sys

import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="CURT_HEALTH", circular_buffer_size=-1)


@tf.function
def price(x, rough):
    if rough:
        rows = tf.map_fn(lambda row: tf.reduce_mean(tf.pow(row, 1.5)), x)  # FAULT: Pow
    else:
        rows = tf.reduce_mean(x, 1)
    return tf.reduce_sum(rows * 2.0)


x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
price(x, tf.constant(False))
price(x, tf.constant(True))
price(x - 3.5, tf.constant(False))
price(x - 3.5, tf.constant(True))
