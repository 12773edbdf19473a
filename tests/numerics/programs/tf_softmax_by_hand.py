"""A softmax by hand in a training function."""
import sys

import tensorflow as tf

tf.debugging.experimental.enable_dump_debug_info(sys.argv[1], tensor_debug_mode="FULL_HEALTH", circular_buffer_size=-1)
tf.random.set_seed(0)
w = tf.Variable(tf.random.normal((4, 3)))


def softmax(logits):
    e = tf.exp(logits)  # FAULT: Exp
    return e / tf.reduce_sum(e, -1, keepdims=True)


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        p = softmax(x @ w)
        loss = -tf.reduce_mean(tf.reduce_sum(y * tf.math.log(p + 1e-9), -1))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


for i in range(5):
    x = tf.random.normal((6, 4)) * (1.0 if i < 3 else 200.0)
    train(x, tf.one_hot(tf.range(6) % 3, 3))
