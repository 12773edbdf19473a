"""Keras programs on three backends: KERAS_BACKEND=tensorflow|jax|torch make_keras.py [NAME ...]

The names begin with keras_ and the backend; those of another one are left out.
"""
import os
import time

BACKEND = os.environ.setdefault('KERAS_BACKEND', 'tensorflow')
os.environ.update(TF_CPP_MIN_LOG_LEVEL='2', JAX_PLATFORMS='cpu', CUDA_VISIBLE_DEVICES='')
import keras
import numpy as np

from recording import Clock, Programs

program = Programs()
FIRST, LAST = 4, 10


class Rows(keras.utils.PyDataset):
    def __init__(self, ms=0, clock=None, width=96, batch=32):
        super().__init__()
        self.ms, self.clock, self.width, self.batch = ms, clock, width, batch

    def __len__(self):
        return 16

    def __getitem__(self, i):
        start = time.perf_counter()
        if self.ms:
            time.sleep(self.ms / 1e3)
        x = np.random.rand(self.batch, self.width).astype('f4')
        if self.clock:
            self.clock.add(1e3 * (time.perf_counter() - start))
        return x, x[:, :1]


class Recorder(keras.callbacks.Callback):
    def __init__(self, folder, clock):
        super().__init__()
        self.folder, self.clock, self.profiler = folder, clock, None

    def on_train_batch_begin(self, batch, logs=None):
        if batch == FIRST:
            if BACKEND == 'jax':
                import jax
                options = jax.profiler.ProfileOptions()
                options.python_tracer_level = 0
                jax.profiler.start_trace(self.folder, profiler_options=options)
            if BACKEND == 'torch':
                from torch.profiler import ProfilerActivity, profile
                self.profiler = profile(activities=[ProfilerActivity.CPU])
                self.profiler.start()
        if self.profiler and FIRST < batch <= LAST:
            self.profiler.step()
        if batch == LAST + 1:
            self.clock.stop()
            if BACKEND == 'jax':
                import jax
                jax.profiler.stop_trace()
            if self.profiler:
                self.profiler.stop()
                self.profiler.export_chrome_trace(os.path.join(self.folder, 'worker.1.pt.trace.json'))
        elif FIRST <= batch <= LAST:
            self.clock.step()


def fit(folder, clock, data, callbacks=(), width=96, units=128, **options):
    m = keras.Sequential([keras.Input((width,)), keras.layers.Dense(units, 'relu'), keras.layers.Dense(units, 'relu'),
                          keras.layers.Dense(1)])
    m.compile('sgd', 'mse', **options)
    recorders = [Recorder(folder, clock)]
    if BACKEND == 'tensorflow':
        recorders.insert(0, keras.callbacks.TensorBoard(folder, profile_batch=(FIRST, LAST), write_graph=False))
    m.fit(data, epochs=1, verbose=0, callbacks=[*recorders, *callbacks])
    return clock


class Slow(keras.callbacks.Callback):
    def __init__(self, clock, every=1, ms=16):
        super().__init__()
        self.clock, self.every, self.ms = clock, every, ms

    def on_train_batch_end(self, batch, logs=None):
        if batch % self.every == 0:
            with self.clock.cause():
                time.sleep(self.ms / 1e3)


if BACKEND == 'tensorflow':
    @program()
    def keras_tf_run_eagerly(folder):
        """fit with run_eagerly=True."""
        clock = fit(folder, Clock(), Rows(), run_eagerly=True)
        import tempfile  # the same loop, compiled
        right = fit(tempfile.mkdtemp(), Clock(), Rows())
        clock.instead_of(sorted(right.steps)[len(right.steps) // 2])
        return clock

    @program()
    def keras_tf_dataset(folder):
        """A PyDataset that takes 18 ms a batch."""
        clock = Clock()
        return fit(folder, clock, Rows(18, clock))

if BACKEND == 'jax':
    @program()
    def keras_jax_callback(folder):
        """A callback of 16 ms after each batch."""
        clock = Clock()
        return fit(folder, clock, Rows(), [Slow(clock)])

    @program(tries=3)
    def keras_jax_healthy(folder):
        """Large layers, data in memory."""
        x = np.random.rand(16 * 512, 512).astype('f4')
        clock = Clock()
        m = keras.Sequential([keras.Input((512,)), keras.layers.Dense(2048, 'relu'), keras.layers.Dense(512)])
        m.compile('sgd', 'mse')

        class Waits(keras.callbacks.Callback):
            def on_train_batch_end(self, batch, logs=None):
                float(logs['loss'])
        m.fit(x, x, batch_size=512, epochs=1, verbose=0, callbacks=[Waits(), Recorder(folder, clock)])
        return clock

if BACKEND == 'torch':
    @program()
    def keras_torch_loader(folder):
        """A PyDataset that takes 14 ms a batch."""
        clock = Clock()
        return fit(folder, clock, Rows(14, clock))


program.main()
