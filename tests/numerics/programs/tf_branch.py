"""Only one branch of a condition overflows, in float16, with the tensors recorded whole."""
import sys

import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="FULL_TENSOR", circular_buffer_size=-1)


@tf.function
def scaled(x, big):
    if big > 0:
        y = x * tf.constant(300.0, tf.float16)  # FAULT: Mul
    else:
        y = x * tf.constant(2.0, tf.float16)
    return tf.reduce_mean(tf.nn.relu(y))


for big in (0, 0, 1):
    scaled(tf.constant([1.0, 250.0], tf.float16), tf.constant(big))
