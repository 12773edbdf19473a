"""Eager: a division by a difference that is zero."""
import sys

import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="FULL_HEALTH", circular_buffer_size=-1)
x = tf.constant([1.0, 2.0])
for i in range(3):
    low = x * 1.0 if i == 2 else x - 1.0
    scaled = (x - low) / (low - x)  # FAULT: RealDiv
    tf.reduce_sum(scaled)
