"""TensorFlow programs that are slow for one known reason, and some that are not: make_tensorflow.py [NAME ...]"""
import os
import tempfile
import time

os.environ.update(TF_CPP_MIN_LOG_LEVEL='2', CUDA_VISIBLE_DEVICES='')
import numpy as np
import tensorflow as tf

from recording import Clock, Programs, busy, each_call_ms

program = Programs()
IMAGES = np.random.rand(64, 48, 48, 3).astype('f4')
ROWS = np.random.rand(256, 256).astype('f4')


def convolutions():
    kernels = [tf.Variable(tf.random.normal((3, 3, a, b)) * 0.05) for a, b in ((3, 16), (16, 24))]

    def fit_step(x):
        with tf.GradientTape() as tape:
            h = x
            for k in kernels:
                h = tf.nn.relu(tf.nn.conv2d(h, k, 2, 'SAME'))
            loss = tf.reduce_mean(tf.square(h))
        for k, g in zip(kernels, tape.gradient(loss, kernels)):
            k.assign_sub(0.01 * g)
        return loss
    return fit_step


def dense(layers=3, width=256):
    weights = [tf.Variable(tf.random.normal((width, width)) * 0.03) for _ in range(layers)]

    def fit_step(x, scale=1.0):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.tanh(h @ w) * scale
            loss = tf.reduce_mean(h * h)
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(0.01 * g)
        return loss
    return fit_step


def record(folder, step, clock=None, steps=6, warm=3, python=False):
    clock = clock or Clock()
    for i in range(warm + steps):
        if i == warm:
            options = tf.profiler.experimental.ProfilerOptions(python_tracer_level=1 if python else 0)
            tf.profiler.experimental.start(folder, options)
        if i >= warm:
            clock.step()
        with tf.profiler.experimental.Trace('fit', step_num=i, _r=1):
            step(i)
    clock.stop()
    tf.profiler.experimental.stop()
    return clock


@program()
def tf_retrace(folder):
    """A Python number as argument: the function is traced again in every step."""
    fit_step, x = tf.function(dense()), tf.constant(ROWS)
    clock = record(folder, lambda i: fit_step(x, 1.0 + i / 100).numpy(), steps=5)
    clock.instead_of(each_call_ms(lambda: fit_step(x, 1.03).numpy()))
    return clock


@program()
def tf_py_function(folder):
    """tf.py_function inside the compiled step."""
    clock, inner = Clock(), dense()

    def on_host(v):
        with clock.cause():
            time.sleep(0.012)
        return v

    @tf.function
    def fit_step(x):
        return tf.py_function(on_host, [inner(x)], tf.float32)
    x = tf.constant(ROWS)
    return record(folder, lambda i: fit_step(x).numpy(), clock)


@program()
def tf_generator(folder):
    """from_generator: a Python generator makes one element after the other."""
    clock = Clock()

    def rows():
        while True:
            time.sleep(0.002)
            yield ROWS[0]
    batches = iter(tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec((256,), tf.float32)).batch(8).prefetch(1))
    fit_step = tf.function(dense())

    def step(i):
        with clock.cause():
            x = next(batches)
        fit_step(x).numpy()
    return record(folder, step, clock)


@program()
def tf_report_after(folder):
    """A report is written after each step. (TensorFlow 2.21 records no frames of Python when asked to.)"""
    clock, fit_step, x = Clock(), tf.function(dense()), tf.constant(ROWS)

    def send_report(values):
        with clock.cause():
            time.sleep(0.014)

    def step(i):
        send_report(fit_step(x).numpy())
    return record(folder, step, clock, python=True)


@program()
def tf_checkpoint_every_third(folder):
    """A checkpoint after every third step."""
    clock = Clock()
    state = tf.train.Checkpoint(v=[tf.Variable(tf.random.normal((700, 700))) for _ in range(6)])
    fit_step, x, where = tf.function(dense()), tf.constant(ROWS), tempfile.mkdtemp()

    def step(i):
        fit_step(x).numpy()
        if i % 3 == 2:
            with clock.cause():
                state.write(os.path.join(where, 'state'))
    return record(folder, step, clock, steps=9)


@program()
def tf_eager_tape(folder):
    """A gradient tape without tf.function."""
    fit_step, x = dense(layers=12, width=32), tf.constant(ROWS[:16, :32])
    clock = record(folder, lambda i: fit_step(x).numpy(), steps=4)
    whole = tf.function(dense(layers=12, width=32))
    clock.instead_of(each_call_ms(lambda: whole(x).numpy()))
    return clock


@program()
def tf_silent_python(folder):
    """Python between two steps that nothing records."""
    clock, fit_step, x = Clock(), tf.function(dense(4, 512)), tf.constant(np.random.rand(256, 512).astype('f4'))
    for i in range(10):
        if i == 3:
            tf.profiler.experimental.start(folder, tf.profiler.experimental.ProfilerOptions(python_tracer_level=0))
        if i >= 3:
            clock.step()
        with tf.profiler.experimental.Trace('fit', step_num=i, _r=1):
            fit_step(x).numpy()
        with clock.cause():
            busy(18)
    clock.stop()
    tf.profiler.experimental.stop()
    return clock


@program(tries=4)
def tf_healthy_images(folder):
    """Convolutions on batches that are in memory, read ahead."""
    batches = iter(tf.data.Dataset.from_tensors(IMAGES).cache().repeat().prefetch(2))
    fit_step = tf.function(convolutions())
    return record(folder, lambda i: fit_step(next(batches)).numpy())


@program(tries=4)
def tf_healthy_compiled(folder):
    """A step compiled by XLA on a constant batch."""
    fit_step, x = tf.function(dense(4, 512), jit_compile=True), tf.constant(np.random.rand(512, 512).astype('f4'))
    return record(folder, lambda i: fit_step(x).numpy())


program.main()
