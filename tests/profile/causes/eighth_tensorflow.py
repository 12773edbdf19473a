"""TensorFlow programs of the eighth batch, written before the rules mended for the seventh were built: eighth_tensorflow.py [NAME ...]"""
import gc
import os
import tempfile
import time

from fourth_tensorflow import as_written
from seventh_tensorflow import ROWS, Net, in_memory, record
import numpy as np
import tensorflow as tf

from recording import Programs, busy, each_call_ms

program = Programs()


@program()
def tf8_py_function_tuned(folder):
    """tf.py_function in a map with AUTOTUNE; autotuning as it is by default."""
    def read(i):
        time.sleep(0.004)
        return tf.zeros(384)
    data = tf.data.Dataset.range(10 ** 6).map(lambda i: tf.ensure_shape(tf.py_function(read, [i], tf.float32), (384,)), num_parallel_calls=1)
    return record(folder, data.batch(8).prefetch(tf.data.AUTOTUNE), tf.function(Net().train), waits=True)


@program()
def tf8_generator_sleeps(folder):
    """from_generator, batch, prefetch; autotuning as it is by default."""
    def lines():
        while True:
            time.sleep(0.0015)
            yield np.ones(384, 'f4')
    data = tf.data.Dataset.from_generator(lines, output_signature=tf.TensorSpec((384,), tf.float32))
    return record(folder, data.batch(16).prefetch(tf.data.AUTOTUNE), tf.function(Net().train), waits=True)


@program()
def tf8_records_interleaved(folder):
    """Records of four files; the map inside the interleave is serial."""
    with tempfile.TemporaryDirectory() as d:
        for f in range(4):
            with tf.io.TFRecordWriter(f'{d}/{f}.rec', tf.io.TFRecordOptions(compression_type='ZLIB')) as w:
                for _ in range(200):
                    w.write(np.random.rand(24, 384).astype('f4').tobytes())

        def rows(name):
            return tf.data.TFRecordDataset(name, compression_type='ZLIB').map(
                lambda r: tf.reduce_mean(tf.sort(tf.reshape(tf.io.decode_raw(r, tf.float32), (24, 384)), axis=0), 0))
        data = tf.data.Dataset.from_tensor_slices([f'{d}/{f}.rec' for f in range(4)]).repeat().interleave(rows, cycle_length=1).batch(32)
        return record(folder, as_written(data), tf.function(Net().train), waits=True)


@program()
def tf8_small_elements(folder):
    """Thousands of tiny elements are mapped before they are batched."""
    data = tf.data.Dataset.range(10 ** 8).map(lambda i: tf.cast(i % 97, tf.float32) / 97.).map(lambda v: v * v).batch(384 * 24)
    data = data.map(lambda v: tf.reshape(v, (24, 384)))
    return record(folder, as_written(data), tf.function(Net().train), waits=True)


@program()
def tf8_keras_eager(folder):
    """Keras layers under a tape without tf.function."""
    import keras
    model = keras.Sequential([keras.layers.Dense(48, 'tanh') for _ in range(8)])
    model.build((None, 384))
    optimizer = keras.optimizers.SGD(1e-3)
    optimizer.build(model.trainable_variables)

    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x)))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss
    clock = record(folder, in_memory(16), train, count=5)
    compiled, x = tf.function(train), tf.constant(ROWS[:16])
    clock.instead_of(each_call_ms(lambda: compiled(x).numpy()))
    return clock


@program()
def tf8_lengths(folder):
    """Each batch has another number of columns that count: traced again."""
    net = Net()
    train = tf.function(lambda x: net.train(tf.pad(x, [[0, 0], [0, 384 - x.shape[1]]])))
    number = [200]

    def step(x):
        number[0] += 3
        return train(x[:, :number[0]])
    clock = record(folder, in_memory(64), step, count=5)
    x = tf.constant(ROWS[:64, :200])
    clock.instead_of(each_call_ms(lambda: train(x).numpy()))
    return clock


@program()
def tf8_scalars_each_step(folder):
    """Eighty scalars go to a summary in each step."""
    step = tf.function(Net().train)
    with tempfile.TemporaryDirectory() as d:
        writer = tf.summary.create_file_writer(d)

        def write(clock, k):
            with clock.cause(), writer.as_default(step=k):
                for i in range(80):
                    tf.summary.scalar(f'layer/{i}', i * 0.5)
        return record(folder, in_memory(64), step, count=5, after=write)


@program()
def tf8_collects(folder):
    """gc.collect() among many objects in each step; no tracer."""
    held = [{'n': [i]} for i in range(40000)]

    def collect(clock, k):
        with clock.cause():
            gc.collect()
    clock = record(folder, in_memory(128), tf.function(Net().train), after=collect, count=6)
    del held
    return clock


@program()
def tf8_every_second(folder):
    """Python computes in every second step; no tracer."""
    def plot(clock, k):
        if k % 2:
            with clock.cause():
                busy(25)
    return record(folder, in_memory(128), tf.function(Net().train), after=plot, count=10)


@program(tries=4)
def tf8_healthy_default(folder):
    """Decoding in parallel, read ahead, options as they are by default."""
    data = tf.data.Dataset.range(10 ** 6).map(lambda i: tf.fill((384,), tf.cast(i % 5, tf.float32)), num_parallel_calls=tf.data.AUTOTUNE)
    return record(folder, data.batch(320).prefetch(tf.data.AUTOTUNE), tf.function(Net(384, 6).train))


@program(tries=4)
def tf8_healthy_convolution(folder):
    """Convolutions with momentum on rows in memory."""
    kernels = [tf.Variable(tf.random.normal((3, 3, 1, 24)) * 0.1), tf.Variable(tf.random.normal((3, 3, 24, 24)) * 0.1)]
    speed = [tf.Variable(tf.zeros_like(w)) for w in kernels]

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            h = tf.reshape(x, (-1, 16, 24, 1))
            for w in kernels:
                h = tf.nn.relu(tf.nn.conv2d(h, w, 1, 'SAME'))
            loss = tf.reduce_mean(h)
        for w, s, g in zip(kernels, speed, tape.gradient(loss, kernels)):
            s.assign(0.9 * s + g)
            w.assign_sub(0.01 * s)
        return loss
    return record(folder, in_memory(128), train)


if __name__ == '__main__':
    os.environ.setdefault('KERAS_BACKEND', 'tensorflow')
    program.main()
