"""A while loop in a graph that raises e to ever larger powers."""
import sys

import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="CONCISE_HEALTH", circular_buffer_size=-1)


@tf.function
def grow(x):
    for _ in tf.range(6):
        x = tf.exp(x)  # FAULT: Exp
    return tf.reduce_mean(x)


grow(tf.constant([0.1, 0.2]))
