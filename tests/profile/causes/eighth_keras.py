"""Keras programs of the eighth batch: KERAS_BACKEND=tensorflow|jax|torch eighth_keras.py [NAME ...]"""
import time

from seventh_keras import BACKEND, After, Batches, fit, model
import keras
import numpy as np

from recording import Clock, Programs, busy, crunch

program = Programs()


def slow_generator(clock, ms, rows=64):
    """Rows of a Python generator."""
    while True:
        start = time.perf_counter()
        crunch(ms)
        x = np.random.rand(rows, 80).astype('f4')
        clock.add(1e3 * (time.perf_counter() - start))
        yield x, x[:, :1]


class Fed(keras.utils.PyDataset):
    """A PyDataset around a generator, as many write it."""

    def __init__(self, source):
        super().__init__()
        self.source = source

    def __len__(self):
        return 20

    def __getitem__(self, k):
        return next(self.source)


if BACKEND == 'tensorflow':
    import tensorflow as tf

    @program()
    def keras8_tf_generator(folder):
        """A generator of Python that computes."""
        clock = Clock()
        return fit(folder, clock, Fed(slow_generator(clock, 14)))

    @program()
    def keras8_tf_python_metric(folder):
        """A metric of Python by tf.numpy_function in the compiled step."""
        clock = Clock()

        def slow(y, p):
            with clock.cause():
                busy(11)
            return np.float32(0)

        def ranked(y, p):
            return tf.ensure_shape(tf.numpy_function(slow, [y, p], tf.float32), ())
        return fit(folder, clock, Batches(), net=model(metrics=[ranked]))

    @program()
    def keras8_tf_plots_every_third(folder):
        """A callback that computes after every third batch."""
        clock = Clock()
        return fit(folder, clock, Batches(), [After(clock, lambda m: busy(40), 3)])

    @program(tries=4)
    def keras8_tf_healthy_images(folder):
        """A small convolutional net."""
        net = keras.Sequential([keras.Input((80,)), keras.layers.Reshape((8, 10, 1)), keras.layers.Conv2D(32, 3, padding='same', activation='relu'),
                                keras.layers.Conv2D(32, 3, activation='relu'), keras.layers.Flatten(), keras.layers.Dense(1)])
        net.compile('adam', 'mse')
        x = np.random.rand(20 * 192, 80).astype('f4')
        return fit(folder, Clock(), tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(192).cache().prefetch(2), net=net)

if BACKEND == 'jax':
    @program()
    def keras8_jax_generator(folder):
        """A generator of Python that computes; no tracer."""
        clock = Clock()
        return fit(folder, clock, Fed(slow_generator(clock, 16)))

    @program()
    def keras8_jax_generator_traced(folder):
        """The same with the tracer of Python."""
        clock = Clock()
        return fit(folder, clock, Fed(slow_generator(clock, 16)), tracer=1)

    @program()
    def keras8_jax_predicts_every_fourth(folder):
        """predict() after every fourth batch."""
        clock, rows = Clock(), np.random.rand(3000, 80).astype('f4')
        return fit(folder, clock, Batches(), [After(clock, lambda m: m.predict(rows, verbose=0), 4)])

    @program(tries=4)
    def keras8_jax_healthy_traced(folder):
        """A wide net, tracer on."""
        return fit(folder, Clock(), Batches(rows=256), net=model(1400), tracer=1)

if BACKEND == 'torch':
    import torch
    torch.set_num_threads(1)

    @program()
    def keras8_torch_callback(folder):
        """A callback that waits; no stacks."""
        clock = Clock()
        return fit(folder, clock, Batches(), [After(clock, lambda m: time.sleep(0.03))])

    @program()
    def keras8_torch_generator_traced(folder):
        """A generator of Python that computes; with_stack."""
        clock = Clock()
        return fit(folder, clock, Fed(slow_generator(clock, 25)), tracer=1)

    @program(tries=4)
    def keras8_torch_healthy_traced(folder):
        """A wide net; with_stack."""
        return fit(folder, Clock(), Batches(rows=384), net=model(1400), tracer=1)

if __name__ == '__main__':
    program.main()
