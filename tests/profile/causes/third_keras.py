"""Keras programs of the third batch: KERAS_BACKEND=tensorflow|jax|torch third_keras.py [NAME ...]"""
import os
import time

BACKEND = os.environ.setdefault('KERAS_BACKEND', 'tensorflow')
os.environ.update(TF_CPP_MIN_LOG_LEVEL='2', JAX_PLATFORMS='cpu', CUDA_VISIBLE_DEVICES='')
import keras
import numpy as np

from recording import Clock, Programs

program = Programs()


class Window(keras.callbacks.Callback):
    """Records a window of batches, counted over epochs."""

    def __init__(self, folder, clock, first, last):
        super().__init__()
        self.folder, self.clock, self.first, self.last, self.seen, self.profiler = folder, clock, first, last, 0, None

    def on_train_batch_begin(self, batch, logs=None):
        self.seen += 1
        if self.seen == self.first:
            if BACKEND == 'tensorflow':
                import tensorflow as tf
                tf.profiler.experimental.start(self.folder)
            elif BACKEND == 'jax':
                import jax
                options = jax.profiler.ProfileOptions()
                options.python_tracer_level = 0
                jax.profiler.start_trace(self.folder, profiler_options=options)
            else:
                from torch.profiler import profile
                self.profiler = profile()
                self.profiler.start()
        if self.first <= self.seen < self.last:
            self.clock.step()
        elif self.seen == self.last:
            self.clock.stop()
            if BACKEND == 'tensorflow':
                import tensorflow as tf
                tf.profiler.experimental.stop()
            elif BACKEND == 'jax':
                import jax
                jax.profiler.stop_trace()
            else:
                self.profiler.stop()
                self.profiler.export_chrome_trace(os.path.join(self.folder, 'fit.pt.trace.json'))


def model(width=80):
    m = keras.Sequential([keras.Input((width,)), keras.layers.Dense(256, 'tanh'), keras.layers.LayerNormalization(), keras.layers.Dense(width)])
    m.compile('rmsprop', 'mse')
    return m


ROWS = np.random.rand(40 * 16, 80).astype('f4')


class Waits(keras.callbacks.Callback):
    def __init__(self, clock, every, seconds):
        super().__init__()
        self.clock, self.every, self.seconds = clock, every, seconds

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every == self.every - 1:
            with self.clock.cause():
                time.sleep(self.seconds)


def fit(folder, clock, callback=None, first=4, last=12, data=None):
    callbacks = [Window(folder, clock, first, last)] + ([callback] if callback else [])
    if data is not None:
        model().fit(data, epochs=1, verbose=0, callbacks=callbacks)
    else:
        model().fit(ROWS, ROWS, batch_size=40, epochs=1, verbose=0, callbacks=callbacks)
    return clock


if BACKEND == 'tensorflow':
    @program(tries=3)
    def keras3_tf_waits(folder):
        """A callback that waits after each batch."""
        clock = Clock()
        return fit(folder, clock, Waits(clock, 1, 0.013))

if BACKEND == 'jax':
    @program(tries=3)
    def keras3_jax_every_fourth(folder):
        """A callback that waits after every fourth batch."""
        clock = Clock()
        return fit(folder, clock, Waits(clock, 4, 0.06), 5, 14)

if BACKEND == 'torch':
    @program(tries=3)
    def keras3_torch_dataloader(folder):
        """fit on a DataLoader without workers whose samples take a while."""
        import torch
        clock = Clock()

        class Slow(torch.utils.data.Dataset):
            def __len__(self):
                return len(ROWS)

            def __getitem__(self, k):
                start = time.perf_counter()
                time.sleep(0.001)
                clock.add(1e3 * (time.perf_counter() - start))
                return ROWS[k], ROWS[k]
        return fit(folder, clock, data=torch.utils.data.DataLoader(Slow(), batch_size=40), last=10)


program.main()
