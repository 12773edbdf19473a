"""Keras programs of the seventh batch: KERAS_BACKEND=tensorflow|jax|torch seventh_keras.py [NAME ...]"""
import os
import tempfile
import time

BACKEND = os.environ.setdefault('KERAS_BACKEND', 'tensorflow')
from fourth_keras import Capture
import keras
import numpy as np

from recording import Clock, Programs, busy, each_call_ms

program = Programs()
FIRST, LAST = 5, 13


class Batches(keras.utils.PyDataset):
    """Batches of Python; each takes `ms`."""

    def __init__(self, clock=None, ms=0, rows=64, **options):
        super().__init__(**options)
        self.clock, self.ms, self.rows = clock, ms, rows

    def __len__(self):
        return 20

    def __getitem__(self, k):
        start = time.perf_counter()
        if self.ms:
            time.sleep(self.ms / 1e3)
        x = np.random.rand(self.rows, 80).astype('f4')
        if self.clock:
            self.clock.add(1e3 * (time.perf_counter() - start))
        return x, x[:, :1]


def model(width=300, **options):
    m = keras.Sequential([keras.Input((80,)), keras.layers.Dense(width, 'relu'), keras.layers.Dense(width, 'relu'), keras.layers.Dense(1)])
    m.compile('adam', 'mse', **options)
    return m


class Timer(keras.callbacks.Callback):
    """The clock of batches that the TensorBoard callback records."""

    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def on_train_batch_begin(self, batch, logs=None):
        if FIRST <= batch < LAST:
            self.clock.step()
        elif batch == LAST:
            self.clock.stop()


def fit(folder, clock, data, callbacks=(), net=None, tracer=0):
    """As a user of that backend would record it."""
    if BACKEND == 'tensorflow':
        own = [keras.callbacks.TensorBoard(folder, profile_batch=(FIRST, LAST - 1), write_graph=False), Timer(clock)]
    else:
        own = [Capture(folder, clock, FIRST, LAST, tracer=tracer)]
    (net or model()).fit(data, epochs=1, verbose=0, callbacks=[*own, *callbacks])
    return clock


class After(keras.callbacks.Callback):
    """Does something after every `every`th batch."""

    def __init__(self, clock, act, every=1):
        super().__init__()
        self.clock, self.act, self.every = clock, act, every

    def refresh_dashboard(self):
        with self.clock.cause():
            self.act(self.model)

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every == self.every - 1:
            self.refresh_dashboard()


if BACKEND == 'tensorflow':
    import tensorflow as tf

    @program()
    def keras7_tf_callback_computes(folder):
        """A callback that computes in Python after each batch."""
        clock = Clock()
        return fit(folder, clock, Batches(), [After(clock, lambda m: busy(14))])

    @program()
    def keras7_tf_saves_weights(folder):
        """save_weights after each batch."""
        clock = Clock()
        with tempfile.TemporaryDirectory() as d:
            return fit(folder, clock, Batches(), [After(clock, lambda m: m.save_weights(f'{d}/w.weights.h5'))])

    @program()
    def keras7_tf_pydataset(folder):
        """A slow PyDataset."""
        clock = Clock()
        return fit(folder, clock, Batches(clock, 18))

    @program()
    def keras7_tf_serial_map(folder):
        """A dataset with a heavy map that is not parallel."""
        clock = Clock()

        def element(i):
            a = tf.random.stateless_uniform((160, 160), [3, tf.cast(i, tf.int32)])
            return tf.reshape(tf.matmul(a, a)[:1, :80], (80,)), tf.zeros((1,))
        options = tf.data.Options()
        options.autotune.enabled = False
        data = tf.data.Dataset.range(20 * 32).map(element).batch(32).with_options(options)
        quick = each_call_ms(lambda: None)
        step = model()
        fit(folder, clock, data)
        x = tf.data.Dataset.from_tensors((tf.zeros((32, 80)), tf.zeros((32, 1)))).repeat(40).prefetch(2)
        step.fit(x, verbose=0)
        start = time.perf_counter()
        step.fit(x, verbose=0)
        clock.instead_of(max(quick, 1e3 * (time.perf_counter() - start) / 40))
        return clock

    @program()
    def keras7_tf_run_eagerly(folder):
        """run_eagerly left on after debugging."""
        clock, right = Clock(), model(64)
        fit(folder, clock, Batches(), net=model(64, run_eagerly=True))
        right.fit(Batches(), verbose=0)
        start = time.perf_counter()
        right.fit(Batches(), verbose=0)
        clock.instead_of(1e3 * (time.perf_counter() - start) / 20)
        return clock

    @program()
    def keras7_tf_predicts_every_fourth(folder):
        """predict() over held-out rows after every fourth batch."""
        clock, rows = Clock(), np.random.rand(2000, 80).astype('f4')
        return fit(folder, clock, Batches(), [After(clock, lambda m: m.predict(rows, verbose=0), 4)])

    @program(tries=4)
    def keras7_tf_healthy(folder):
        """A wide net on rows in memory."""
        clock, data = Clock(), np.random.rand(20 * 256, 80).astype('f4')
        data = tf.data.Dataset.from_tensor_slices((data, data[:, :1])).batch(256).cache().prefetch(2)
        return fit(folder, clock, data, net=model(1100))

if BACKEND == 'jax':
    @program()
    def keras7_jax_callback(folder):
        """A callback that waits; nothing of Python recorded."""
        clock = Clock()
        return fit(folder, clock, Batches(), [After(clock, lambda m: time.sleep(0.016))])

    @program()
    def keras7_jax_callback_traced(folder):
        """The same with the tracer of Python."""
        clock = Clock()
        return fit(folder, clock, Batches(), [After(clock, lambda m: time.sleep(0.016))], tracer=1)

    @program()
    def keras7_jax_saves_every_fourth(folder):
        """save_weights after every fourth batch; no tracer."""
        clock = Clock()
        with tempfile.TemporaryDirectory() as d:
            return fit(folder, clock, Batches(), [After(clock, lambda m: m.save_weights(f'{d}/w.weights.h5'), 4)])

    @program()
    def keras7_jax_lengths(folder):
        """Batches of another number of rows each time: compiled again."""
        class Uneven(Batches):
            def __getitem__(self, k):
                x = np.random.rand(40 + k, 80).astype('f4')
                return x, x[:, :1]
        clock, right = Clock(), model()
        fit(folder, clock, Uneven())
        right.fit(Batches(), verbose=0)
        start = time.perf_counter()
        right.fit(Batches(), verbose=0)
        clock.instead_of(1e3 * (time.perf_counter() - start) / 20)
        return clock

    @program(tries=4)
    def keras7_jax_healthy(folder):
        """A wide net."""
        return fit(folder, Clock(), Batches(rows=256), net=model(1400))

if BACKEND == 'torch':
    import torch
    torch.set_num_threads(1)

    @program()
    def keras7_torch_callback_traced(folder):
        """A callback that waits; with_stack."""
        clock = Clock()
        return fit(folder, clock, Batches(), [After(clock, lambda m: time.sleep(0.03))], tracer=1)

    @program()
    def keras7_torch_pydataset(folder):
        """A slow PyDataset; no stacks."""
        clock = Clock()
        return fit(folder, clock, Batches(clock, 25))

    @program(tries=4)
    def keras7_torch_healthy(folder):
        """A wide net."""
        return fit(folder, Clock(), Batches(rows=384), net=model(1400))

if __name__ == '__main__':
    program.main()
