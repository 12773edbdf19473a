"""The slope of a norm at zero, eagerly, by a tape."""
import sys

import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="CONCISE_HEALTH", circular_buffer_size=-1)

w = tf.Variable([1.0, 2.0])
for i in range(4):
    x = tf.constant([1.0, 1.0]) if i < 3 else tf.constant([0.0, 0.0])
    with tf.GradientTape() as tape:
        y = tf.sqrt(tf.reduce_sum(w * x * x))
    w.assign_sub(0.01 * tape.gradient(y, w))  # FAULT: Sqrt|Div|Mul
