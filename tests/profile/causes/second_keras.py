"""Keras programs of the second batch on three backends: KERAS_BACKEND=tensorflow|jax|torch second_keras.py [NAME ...]"""
import json
import os
import tempfile
import time

BACKEND = os.environ.setdefault('KERAS_BACKEND', 'tensorflow')
os.environ.update(TF_CPP_MIN_LOG_LEVEL='2', JAX_PLATFORMS='cpu', CUDA_VISIBLE_DEVICES='')
import keras
import numpy as np

from recording import Clock, Programs

program = Programs()
BEGIN, END = 5, 10


def net(inputs=64, units=192, layers=2):
    x = entry = keras.Input((inputs,))
    for _ in range(layers):
        x = keras.layers.Dense(units, activation='gelu')(x)
    return keras.Model(entry, keras.layers.Dense(inputs)(x))


class Recorded(keras.callbacks.Callback):
    """Starts and stops the backend's own profiler around some batches."""

    def __init__(self, folder, clock, python=0):
        super().__init__()
        self.folder, self.clock, self.python, self.batch, self.torch = folder, clock, python, 0, None

    def start(self):
        if BACKEND == 'tensorflow':
            import tensorflow as tf
            tf.profiler.experimental.start(self.folder)
        elif BACKEND == 'jax':
            import jax
            options = jax.profiler.ProfileOptions()
            options.python_tracer_level = self.python
            jax.profiler.start_trace(self.folder, profiler_options=options)
        else:
            from torch.profiler import ProfilerActivity, profile
            self.torch = profile(activities=[ProfilerActivity.CPU], with_stack=bool(self.python))
            self.torch.start()

    def stop(self):
        if BACKEND == 'tensorflow':
            import tensorflow as tf
            tf.profiler.experimental.stop()
        elif BACKEND == 'jax':
            import jax
            jax.profiler.stop_trace()
        else:
            self.torch.stop()
            self.torch.export_chrome_trace(os.path.join(self.folder, 'keras.pt.trace.json'))

    def on_train_batch_begin(self, batch, logs=None):
        self.batch += 1
        if self.batch == BEGIN:
            self.start()
        if BEGIN <= self.batch < END:
            self.clock.step()
        if self.batch == END:
            self.clock.stop()
            self.stop()


def fit(folder, clock, x, callbacks=(), python=0, model=None, batch=48, compiled=None, **options):
    model = model or net()
    model.compile('adam', 'mae', **(compiled or {}))
    targets = {} if isinstance(x, keras.utils.PyDataset) else {'y': x, 'batch_size': batch}
    model.fit(x, verbose=0, callbacks=[Recorded(folder, clock, python), *callbacks], **targets, **options)
    return clock


ROWS = np.random.rand(48 * 14, 64).astype('f4')


class Journal(keras.callbacks.Callback):
    """Writes what happened so far as JSON."""

    def __init__(self, clock, moment='end'):
        super().__init__()
        self.clock, self.moment, self.lines = clock, moment, [{"k": k, "v": k / 3} for k in range(9000 if BACKEND != "torch" else 30000)]

    def write_journal(self):
        with self.clock.cause():
            json.dumps(self.lines)

    def on_train_batch_end(self, batch, logs=None):
        if self.moment == 'end':
            self.write_journal()

    def on_train_batch_begin(self, batch, logs=None):
        if self.moment == 'begin':
            self.write_journal()


class Augmented(keras.utils.PyDataset):
    def __init__(self, clock):
        super().__init__()
        self.clock = clock

    def __len__(self):
        return 14

    def __getitem__(self, k):
        start = time.perf_counter()
        x = np.sort(np.random.rand(48, 9000), axis=1)[:, :64].astype('f4')
        self.clock.add(1e3 * (time.perf_counter() - start))
        return x, x


if BACKEND == 'tensorflow':
    @program()
    def keras2_tf_saves_each_batch(folder):
        """ModelCheckpoint with save_freq=1."""
        clock = Clock()

        class Saves(keras.callbacks.ModelCheckpoint):
            def _save_model(self, *given, **named):
                with clock.cause():
                    super()._save_model(*given, **named)
        save = Saves(os.path.join(tempfile.mkdtemp(), 'm.keras'), save_freq=1)
        return fit(folder, clock, ROWS, [save], model=net(units=512))

    @program()
    def keras2_tf_augments(folder):
        """A PyDataset that sorts random numbers with numpy."""
        clock = Clock()
        return fit(folder, clock, Augmented(clock))

    @program()
    def keras2_tf_python_loss(folder):
        """A custom train_step that calls a function of numpy inside the compiled step."""
        import tensorflow as tf
        clock = Clock()

        def judged(values):
            with clock.cause():
                np.sort(np.random.rand(40, 9000), axis=1)
            return values

        class Custom(keras.Model):
            def train_step(self, data):
                x, y = data
                y = tf.ensure_shape(tf.numpy_function(judged, [y], tf.float32), (None, 64))
                return super().train_step((x, y))
        entry = keras.Input((64,))
        model = Custom(entry, keras.layers.Dense(64)(keras.layers.Dense(192, 'relu')(entry)))
        return fit(folder, clock, ROWS, model=model)

    @program(tries=4)
    def keras2_tf_healthy(folder):
        """fit on rows in memory, large layers."""
        rows = np.random.rand(384 * 14, 512).astype('f4')
        return fit(folder, Clock(), rows, model=net(512, 1536), batch=384)

if BACKEND == 'jax':
    @program()
    def keras2_jax_journal_traced(folder):
        """A callback writes JSON after each batch; recorded with the Python tracer."""
        clock = Clock()
        return fit(folder, clock, ROWS, [Journal(clock)], python=1)

    @program()
    def keras2_jax_eager(folder):
        """fit with run_eagerly=True."""
        clock, right = Clock(), Clock()
        fit(folder, clock, ROWS, compiled={'run_eagerly': True}, model=net(units=32))
        fit(tempfile.mkdtemp(), right, ROWS, model=net(units=32))
        clock.instead_of(sorted(right.steps)[len(right.steps) // 2])
        return clock

    @program()
    def keras2_jax_augments(folder):
        """A PyDataset that sorts random numbers with numpy; no Python recorded."""
        clock = Clock()
        return fit(folder, clock, Augmented(clock))

if BACKEND == 'torch':
    @program()
    def keras2_torch_journal_traced(folder):
        """A callback writes JSON before each batch; recorded with_stack."""
        clock = Clock()
        return fit(folder, clock, ROWS, [Journal(clock, 'begin')], python=1, model=net(layers=1))

    @program()
    def keras2_torch_journal(folder):
        """A callback writes JSON after each batch; no stacks."""
        clock = Clock()
        return fit(folder, clock, ROWS, [Journal(clock)])

    @program(tries=4)
    def keras2_torch_healthy(folder):
        """fit on rows in memory, large layers."""
        rows = np.random.rand(384 * 14, 512).astype('f4')
        return fit(folder, Clock(), rows, model=net(512, 1536), batch=384)


program.main()
