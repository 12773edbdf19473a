"""TensorFlow programs of the sixth batch: sixth_tensorflow.py [NAME ...]"""
import time

from fourth_tensorflow import Scorer, as_written, fed_by, train_loop
import numpy as np
import tensorflow as tf

from recording import Clock, Programs, each_call_ms

program = Programs()
ROWS = tf.random.normal((128, 320))


@program(tries=3)
def tf6_generator_of_batches(folder):
    """from_generator makes whole batches, nothing is made ahead."""
    def batches():
        while True:
            yield np.sort(np.random.rand(96, 1600).astype('f4'))[:, :320]
    return fed_by(folder, as_written(tf.data.Dataset.from_generator(batches, output_signature=tf.TensorSpec((96, 320), tf.float32))))


@program(tries=3)
def tf6_second_map(folder):
    """Two maps, the second one is heavy."""
    def heavy(x):
        a = tf.reshape(tf.tile(x, (40,)), (80, 160))
        for _ in range(4):
            a = tf.sin(tf.matmul(a, a, transpose_b=True) @ a) * 0.01
        return tf.reshape(a[:2], (320,))
    data = tf.data.Dataset.range(10 ** 6).map(lambda i: tf.fill((320,), tf.cast(i % 7, tf.float32))).map(heavy).batch(16)
    return fed_by(folder, as_written(data))


@program(tries=3)
def tf6_costly_filter(folder):
    """A filter computes much and drops two of three rows."""
    def keep(i):
        a = tf.random.stateless_uniform((120, 120), [4, tf.cast(i, tf.int32)])
        return tf.logical_and(tf.equal(i % 3, 0), tf.reduce_sum(tf.matmul(a, a)) > 0)
    data = tf.data.Dataset.range(10 ** 6).filter(keep).map(lambda i: tf.fill((320,), tf.cast(i % 5, tf.float32))).batch(12)
    return fed_by(folder, as_written(data))


@program(tries=3)
def tf6_layers_eager(folder):
    """A step of 25 small layers without tf.function."""
    clock, net = Clock(), Scorer(48, 25)
    x = tf.random.normal((16, 48))
    train_loop(folder, lambda k: net.fit(x).numpy(), clock, 4)
    compiled = tf.function(net.fit)
    clock.instead_of(each_call_ms(lambda: compiled(x).numpy()))
    return clock


@program(tries=3)
def tf6_export_region(folder):
    """A region export_metrics that waits; in the step."""
    clock, step = Clock(), tf.function(Scorer().fit)

    def one(k):
        step(ROWS).numpy()
        with clock.cause(), tf.profiler.experimental.Trace('export_metrics'):
            time.sleep(0.011)
    return train_loop(folder, one, clock, 6)


@program(tries=3)
def tf6_mask_retraces(folder):
    """A Python list of another length is an argument in each step."""
    clock, net = Clock(), Scorer()

    @tf.function
    def masked(x, keep):
        return net.fit(x) * float(len(keep))
    train_loop(folder, lambda k: masked(ROWS, list(range(k + 1))).numpy(), clock, 5)
    clock.instead_of(each_call_ms(lambda: masked(ROWS, [0]).numpy()))
    return clock


@program(tries=5)
def tf6_healthy_parallel(folder):
    """A parallel map with prefetch that keeps up with the step."""
    data = tf.data.Dataset.range(10 ** 6).map(lambda i: tf.fill((512,), tf.cast(i % 9, tf.float32)), num_parallel_calls=2).batch(256).prefetch(4)
    step, batches = tf.function(Scorer(512, 4).fit), iter(data)
    return train_loop(folder, lambda k: step(next(batches)).numpy(), Clock(), 6)


if __name__ == '__main__':
    program.main()
