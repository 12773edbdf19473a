"""Keras programs of the fourth batch: KERAS_BACKEND=tensorflow|jax|torch fourth_keras.py [NAME ...]"""
import os
import time

BACKEND = os.environ.setdefault('KERAS_BACKEND', 'tensorflow')
os.environ.update(TF_CPP_MIN_LOG_LEVEL='2', JAX_PLATFORMS='cpu', CUDA_VISIBLE_DEVICES='')
import keras
import numpy as np

from recording import Clock, Programs, crunch, each_call_ms

program = Programs()


class Capture(keras.callbacks.Callback):
    """The backend's profiler around the batches `first` to `last`, counted over all epochs."""

    def __init__(self, folder, clock, first=5, last=11, tracer=0):
        super().__init__()
        self.folder, self.clock, self.first, self.last, self.tracer, self.seen = folder, clock, first, last, tracer, 0

    def begin(self):
        if BACKEND == 'tensorflow':
            import tensorflow as tf
            tf.profiler.experimental.start(self.folder, tf.profiler.experimental.ProfilerOptions(python_tracer_level=self.tracer))
        elif BACKEND == 'jax':
            import jax
            options = jax.profiler.ProfileOptions()
            options.python_tracer_level = self.tracer
            jax.profiler.start_trace(self.folder, profiler_options=options)
        else:
            import torch
            self.profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], with_stack=bool(self.tracer))
            self.profiler.start()

    def end(self):
        if BACKEND == 'tensorflow':
            import tensorflow as tf
            tf.profiler.experimental.stop()
        elif BACKEND == 'jax':
            import jax
            jax.profiler.stop_trace()
        else:
            self.profiler.stop()
            self.profiler.export_chrome_trace(os.path.join(self.folder, 'keras.pt.trace.json'))

    def on_train_batch_begin(self, batch, logs=None):
        if self.seen == self.first:
            self.begin()
        if self.first <= self.seen < self.last:
            self.clock.step()
        elif self.seen == self.last:
            self.clock.stop()
            self.end()
        self.seen += 1


class Steps(keras.utils.PyDataset):
    def __init__(self, clock, ms, count=14, width=96, **options):
        super().__init__(**options)
        self.clock, self.ms, self.count, self.x = clock, ms, count, np.random.rand(48, width).astype('f4')

    def __len__(self):
        return self.count

    def __getitem__(self, k):
        with self.clock.cause():
            time.sleep(self.ms / 1e3)
        return self.x, self.x[:, :1]


def regression(width=96, hidden=224):
    m = keras.Sequential([keras.Input((width,)), keras.layers.Dense(hidden, 'selu'), keras.layers.Dropout(0.1), keras.layers.Dense(hidden, 'selu'), keras.layers.Dense(1)])
    m.compile(keras.optimizers.SGD(1e-3, momentum=0.9), 'mse')
    return m


class Journal(keras.callbacks.Callback):
    def __init__(self, clock, ms):
        super().__init__()
        self.clock, self.ms = clock, ms

    def note_down(self):
        with self.clock.cause():
            crunch(self.ms)

    def on_train_batch_end(self, batch, logs=None):
        self.note_down()


def rows(n, width=96):
    x = np.random.rand(n * 48, width).astype('f4')
    return x, x[:, :1]


def images():
    m = keras.Sequential([keras.Input((28, 28, 3)), keras.layers.Conv2D(24, 3, activation='relu'), keras.layers.Conv2D(24, 3, activation='relu'), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(4)])
    m.compile('adam', 'mse')
    return m, np.random.rand(14 * 48, 28, 28, 3).astype('f4'), np.random.rand(14 * 48, 4).astype('f4')


if BACKEND == 'tensorflow':
    @program(tries=2)
    def keras4_tf_generator(folder):
        """fit with a Python generator that is slow."""
        clock = Clock()
        x, y = rows(1)

        def endless():
            while True:
                with clock.cause():
                    time.sleep(0.02)
                yield x, y
        regression().fit(endless(), steps_per_epoch=14, verbose=0, callbacks=[Capture(folder, clock)])
        return clock

    @program(tries=2)
    def keras4_tf_lengths(folder):
        """train_on_batch with another length in each call."""
        import tensorflow as tf
        clock = Clock()
        m = keras.Sequential([keras.Input((None, 12)), keras.layers.Conv1D(16, 3, padding='same'), keras.layers.GlobalMaxPooling1D(), keras.layers.Dense(1)])
        m.compile('sgd', 'mse')
        y = np.zeros((16, 1), 'f4')
        calls = [np.random.rand(16, 20 + k, 12).astype('f4') for k in range(8)]

        @tf.function(reduce_retracing=False)
        def update(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((m(x) - y) ** 2)
            m.optimizer.apply_gradients(zip(tape.gradient(loss, m.trainable_variables), m.trainable_variables))
            return loss
        for k in range(2):
            update(tf.constant(calls[k]))
        tf.profiler.experimental.start(folder)
        for k in range(2, 8):
            clock.step()
            with tf.profiler.experimental.Trace('train', step_num=k, _r=1):
                update(tf.constant(calls[k])).numpy()
        clock.stop()
        tf.profiler.experimental.stop()
        known = tf.constant(calls[3])
        clock.instead_of(each_call_ms(lambda: update(known).numpy()))
        return clock

    @program(tries=4)
    def keras4_tf_healthy_images(folder):
        """A small convolutional net fed from arrays, with the TensorBoard callback's own profiler."""
        clock = Clock()
        m, x, y = images()

        class Beat(keras.callbacks.Callback):
            def on_train_batch_begin(self, batch, logs=None):
                clock.step()
        m.fit(x, y, batch_size=48, verbose=0, callbacks=[keras.callbacks.TensorBoard(folder, profile_batch=(5, 10), write_graph=False), Beat()])
        clock.stop()
        return clock

if BACKEND == 'jax':
    @program(tries=2)
    def keras4_jax_journal(folder):
        """A callback after each batch; no tracer."""
        clock = Clock()
        regression().fit(*rows(14), batch_size=48, verbose=0, callbacks=[Capture(folder, clock), Journal(clock, 12)])
        return clock

    @program(tries=2)
    def keras4_jax_dataset(folder):
        """A slow PyDataset; tracer on."""
        clock = Clock()
        regression().fit(Steps(clock, 18), verbose=0, callbacks=[Capture(folder, clock, 5, 10, tracer=1)])
        return clock

    @program(tries=4)
    def keras4_jax_healthy_images(folder):
        """A small convolutional net fed from arrays."""
        clock = Clock()
        m, x, y = images()
        m.fit(x, y, batch_size=48, verbose=0, callbacks=[Capture(folder, clock)])
        return clock

if BACKEND == 'torch':
    @program(tries=2)
    def keras4_torch_journal_traced(folder):
        """A callback after each batch, with_stack."""
        clock = Clock()
        regression().fit(*rows(14), batch_size=48, verbose=0, callbacks=[Capture(folder, clock, 5, 9, tracer=1), Journal(clock, 25)])
        return clock

    @program(tries=2)
    def keras4_torch_dataset(folder):
        """A slow PyDataset; no stacks."""
        clock = Clock()
        regression().fit(Steps(clock, 30), verbose=0, callbacks=[Capture(folder, clock)])
        return clock

    @program(tries=4)
    def keras4_torch_healthy_images(folder):
        """A small convolutional net fed from arrays."""
        clock = Clock()
        m, x, y = images()
        m.fit(x, y, batch_size=48, verbose=0, callbacks=[Capture(folder, clock)])
        return clock

if __name__ == '__main__':
    program.main()
