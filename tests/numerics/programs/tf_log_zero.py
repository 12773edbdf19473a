"""The log of a softmax that reached zero, inside a tf.function."""
import sys

import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="FULL_HEALTH", circular_buffer_size=-1)


@tf.function
def loss_of(x):
    p = tf.nn.softmax(x)
    return -tf.reduce_mean(tf.math.log(p))  # FAULT: Log


for i in range(4):
    loss_of(tf.constant([[1.0, 2.0, 300.0 if i == 2 else 3.0]]))
