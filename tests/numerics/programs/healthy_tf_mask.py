"""A mask of -inf in a tf.function."""
import sys

import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="FULL_HEALTH", circular_buffer_size=-1)


@tf.function
def attention(x):
    low = tf.constant(float("-inf"))
    scores = tf.where(tf.linalg.band_part(tf.ones((4, 4)), -1, 0) > 0, x, low)
    return tf.reduce_sum(tf.nn.softmax(scores) * x)


for i in range(3):
    attention(tf.random.stateless_normal((4, 4), (1, i)))
