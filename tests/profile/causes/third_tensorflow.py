"""TensorFlow programs of the third batch, recorded after the rules were settled: third_tensorflow.py [NAME ...]"""
import os

os.environ.update(TF_CPP_MIN_LOG_LEVEL='2', CUDA_VISIBLE_DEVICES='')
import numpy as np
import tensorflow as tf

from recording import Clock, Programs, busy, each_call_ms

program = Programs()
W = tf.Variable(np.random.rand(200, 200).astype('f4') * 0.03)


@tf.function
def advance(x):
    with tf.GradientTape() as tape:
        y = tf.reduce_mean(tf.math.softplus(x @ W @ W) ** 2)
    W.assign_sub(0.01 * tape.gradient(y, W))
    return y


def recorded(folder, rounds, body, clock=None, name='advance'):
    clock = clock or Clock()
    for k in range(3):
        body(k)
    tf.profiler.experimental.start(folder)
    for k in range(3, 3 + rounds):
        clock.step()
        if name:
            with tf.profiler.experimental.Trace(name, step_num=k, _r=1):
                body(k)
        else:
            body(k)
    clock.stop()
    tf.profiler.experimental.stop()
    return clock


ROWS = tf.constant(np.random.rand(256, 200).astype('f4'))


@program(tries=3)
def tf3_region_statistics(folder):
    """A region collect_statistics of Python inside the step."""
    clock = Clock()

    def body(k):
        advance(ROWS).numpy()
        with clock.cause(), tf.profiler.experimental.Trace('collect_statistics'):
            busy(11)
    return recorded(folder, 6, body, clock)


@program(tries=3)
def tf3_csv_lines(folder):
    """Lines of text are split and parsed one by one in a map."""
    clock, line = Clock(), ','.join(f'{k / 7:.4f}' for k in range(200))

    def parse(_):
        return tf.strings.to_number(tf.strings.split(tf.constant(line), ','))[:200]
    batches = iter(tf.data.Dataset.range(1 << 40).map(parse).batch(96).prefetch(1))

    def body(k):
        with clock.cause():
            x = next(batches)
        advance(tf.ensure_shape(x, (96, 200))).numpy()
    return recorded(folder, 6, body, clock)


@program(tries=3)
def tf3_eager_unmarked(folder):
    """Twenty-five small layers without tf.function; nothing marked."""
    small = [tf.Variable(np.random.rand(20, 20).astype('f4') * 0.1) for _ in range(25)]
    x = tf.constant(np.random.rand(8, 20).astype('f4'))

    def whole():
        h = x
        for w in small:
            h = tf.nn.relu(h @ w + 0.1)
        return tf.reduce_sum(h)
    clock = recorded(folder, 5, lambda k: whole().numpy(), name=None)
    compiled = tf.function(whole)
    clock.instead_of(each_call_ms(lambda: compiled().numpy()))
    return clock


@program(tries=5)
def tf3_healthy_images(folder):
    """Convolutions on a constant batch; nothing marked."""
    kernel, images = tf.Variable(tf.random.normal((5, 5, 3, 24))), tf.random.normal((16, 48, 48, 3))

    @tf.function
    def advance_images():
        with tf.GradientTape() as tape:
            y = tf.reduce_mean(tf.nn.conv2d(images, kernel, 1, 'SAME') ** 2)
        kernel.assign_sub(0.01 * tape.gradient(y, kernel))
        return y
    return recorded(folder, 5, lambda k: advance_images().numpy(), name=None)


program.main()
