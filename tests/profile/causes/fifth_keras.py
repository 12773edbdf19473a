"""Keras programs of the fifth batch: KERAS_BACKEND=tensorflow|jax|torch fifth_keras.py [NAME ...]"""
from fourth_keras import BACKEND, Capture, Journal, Steps, regression, rows
import keras

from recording import Clock, Programs, each_call_ms

program = Programs()


def wide(width=500):
    m = keras.Sequential([keras.Input((width,)), keras.layers.Dense(900, 'relu'), keras.layers.Dense(900, 'relu'), keras.layers.Dense(1)])
    m.compile('sgd', 'mse')
    return m


if BACKEND == 'tensorflow':
    import tensorflow as tf

    @program(tries=2)
    def keras5_tf_serial_map(folder):
        """fit on a dataset whose map is slow and serial."""
        clock = Clock()

        def make(i):
            a = tf.random.stateless_normal((200, 200), [5, tf.cast(i, tf.int32)])
            for _ in range(3):
                a = tf.matmul(a, a) / 200.
            return tf.reduce_sum(a, 0)[:96], tf.zeros(1)
        options = tf.data.Options()
        options.autotune.enabled = False
        options.experimental_optimization.apply_default_optimizations = False
        data = tf.data.Dataset.range(10 ** 6).map(make).batch(16).with_options(options)
        regression().fit(data, steps_per_epoch=14, verbose=0, callbacks=[Capture(folder, clock)])
        alone = regression()
        x, y = tf.zeros((16, 96)), tf.zeros((16, 1))
        clock.instead_of(each_call_ms(lambda: alone.train_on_batch(x, y)))
        return clock

    @program(tries=2)
    def keras5_tf_eagerly(folder):
        """run_eagerly=True."""
        clock = Clock()
        m = regression()
        m.compile('sgd', 'mse', run_eagerly=True)
        m.fit(*rows(14), batch_size=48, verbose=0, callbacks=[Capture(folder, clock, 5, 9)])
        same = regression()
        x, y = rows(1)
        clock.instead_of(each_call_ms(lambda: same.train_on_batch(x, y)))
        return clock

    @program(tries=2)
    def keras5_tf_journal(folder):
        """A callback after each batch; recorded by the TensorBoard callback."""
        clock = Clock()

        class Beat(keras.callbacks.Callback):
            def on_train_batch_begin(self, batch, logs=None):
                clock.step()
        regression().fit(*rows(14), batch_size=48, verbose=0, callbacks=[
            keras.callbacks.TensorBoard(folder, profile_batch=(5, 11), write_graph=False), Beat(), Journal(clock, 15)])
        clock.stop()
        clock.steps, clock.caused = clock.steps[4:10], clock.caused[4:10]
        return clock

    @program(tries=4)
    def keras5_tf_healthy_wide(folder):
        """Two wide layers, fed from arrays."""
        clock = Clock()
        x, y = rows(14, 500)
        wide().fit(x, y, batch_size=48, verbose=0, callbacks=[Capture(folder, clock)])
        return clock

if BACKEND == 'jax':
    @program(tries=2)
    def keras5_jax_journal_traced(folder):
        """A callback after each batch; tracer on."""
        clock = Clock()
        regression().fit(*rows(14), batch_size=48, verbose=0, callbacks=[Capture(folder, clock, 5, 10, tracer=1), Journal(clock, 14)])
        return clock

    @program(tries=2)
    def keras5_jax_steps(folder):
        """A slow PyDataset; no tracer."""
        clock = Clock()
        regression().fit(Steps(clock, 16), verbose=0, callbacks=[Capture(folder, clock)])
        return clock

if BACKEND == 'torch':
    import torch
    torch.set_num_threads(1)

    @program(tries=2)
    def keras5_torch_journal(folder):
        """A callback after each batch; no stacks."""
        clock = Clock()
        regression().fit(*rows(14), batch_size=48, verbose=0, callbacks=[Capture(folder, clock), Journal(clock, 22)])
        return clock

    @program(tries=4)
    def keras5_torch_healthy_wide(folder):
        """Two wide layers, fed from arrays."""
        clock = Clock()
        x, y = rows(14, 500)
        wide().fit(x, y, batch_size=48, verbose=0, callbacks=[Capture(folder, clock)])
        return clock

if __name__ == '__main__':
    program.main()
