"""A network of ReLUs with dropout and clipping, whose debugger is on all the time."""
import sys

import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="FULL_HEALTH", circular_buffer_size=-1)
tf.random.set_seed(1)
a, b = tf.Variable(tf.random.normal((4, 16)) * 0.1), tf.Variable(tf.zeros((16, 1)))


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        hidden = tf.nn.dropout(tf.nn.relu(x @ a), 0.5)
        loss = tf.reduce_mean(tf.square(hidden @ b - 1.0))
    grads, norm = tf.clip_by_global_norm(tape.gradient(loss, [a, b]), 1.0)
    for v, g in zip([a, b], grads):
        v.assign_sub(0.1 * g)
    return norm


for _ in range(6):
    train(tf.random.normal((8, 4)))
