"""TensorFlow programs of the seventh batch, recorded before a rule was touched for them: seventh_tensorflow.py [NAME ...]"""
import gzip
import os
import tempfile
import time

from fourth_tensorflow import as_written
import numpy as np
import tensorflow as tf

from recording import Clock, Programs, busy, each_call_ms

program = Programs()
ROWS = np.random.rand(1024, 384).astype('f4')


class Net(tf.Module):
    def __init__(self, width=384, layers=4):
        super().__init__()
        self.kernels = [tf.Variable(tf.random.normal((width, width)) * 0.03) for _ in range(layers)]

    def train(self, x):
        with tf.GradientTape() as tape:
            for w in self.kernels:
                x = tf.nn.gelu(tf.matmul(x, w))
            loss = tf.reduce_mean(tf.square(x))
        for w, g in zip(self.kernels, tape.gradient(loss, self.kernels)):
            w.assign_sub(1e-3 * g)
        return loss


def in_memory(batch):
    return tf.data.Dataset.from_tensor_slices(ROWS).cache().repeat().batch(batch).prefetch(2)


def record(folder, dataset, train, count=8, warm=4, waits=False, before=None, after=None):
    """Batch, step and what comes with them, all inside the mark of a step."""
    clock, batches = Clock(), iter(dataset)
    for k in range(warm + count):
        if k == warm:
            tf.profiler.experimental.start(folder)
        if k >= warm:
            clock.step()
        with tf.profiler.experimental.Trace('train', step_num=k, _r=1):
            if before:
                before(clock, k)
            start = time.perf_counter()
            x = next(batches)
            if waits:
                clock.add(1e3 * (time.perf_counter() - start))
            train(x).numpy()
            if after:
                after(clock, k)
    clock.stop()
    tf.profiler.experimental.stop()
    return clock


@program()
def tf7_text_gzip(folder):
    """Lines of a compressed text file, parsed by a map."""
    with tempfile.TemporaryDirectory() as d:
        with gzip.open(f'{d}/rows.gz', 'wt') as f:
            for _ in range(1500):
                f.write(' '.join(f'{v:.6f}' for v in np.random.rand(384)) + '\n')
        data = tf.data.TextLineDataset(f'{d}/rows.gz', compression_type='GZIP').repeat()
        data = data.map(lambda line: tf.ensure_shape(tf.strings.to_number(tf.strings.split(line)), (384,))).batch(64)
        return record(folder, as_written(data), tf.function(Net().train), waits=True)


@program()
def tf7_augments(folder):
    """Pictures in memory are flipped, turned brighter and resized one by one, then read ahead."""
    pictures = np.random.randint(0, 255, (64, 96, 96, 3), dtype='u1')

    def augment(p):
        p = tf.image.random_flip_left_right(tf.cast(p, tf.float32) / 255.)
        p = tf.image.random_saturation(tf.image.adjust_hue(p, 0.1), 0.7, 1.3)
        return tf.reshape(tf.image.resize(p, (16, 24))[..., 0], (384,))
    data = tf.data.Dataset.from_tensor_slices(pictures).repeat().map(augment).batch(24).prefetch(1)
    return record(folder, as_written(data), tf.function(Net().train), waits=True)


@program()
def tf7_not_ahead(folder):
    """A parallel map whose batch takes about as long as the step; nothing is made ahead."""
    def features(i):
        a = tf.random.stateless_uniform((200, 200), [2, tf.cast(i, tf.int32)])
        return tf.reshape(tf.linalg.matmul(a, a)[:2, :192], (384,))
    data = tf.data.Dataset.range(10 ** 6).map(features, num_parallel_calls=2).batch(64)
    return record(folder, as_written(data), tf.function(Net().train), waits=True)


@program()
def tf7_not_cached(folder):
    """Sixteen files are read and decoded again in each epoch, one after the other."""
    with tempfile.TemporaryDirectory() as d:
        for k in range(16):
            noise = np.random.randint(0, 255, (200, 300, 3), dtype='u1')
            tf.io.write_file(f'{d}/{k}.png', tf.io.encode_png(noise))

        def load(path):
            p = tf.io.decode_png(tf.io.read_file(path), channels=1)
            return tf.reshape(tf.image.resize(p, (16, 24)), (384,)) / 255.
        data = tf.data.Dataset.list_files(f'{d}/*.png', shuffle=False).map(load).repeat().batch(8)
        return record(folder, as_written(data), tf.function(Net().train), waits=True)


@program()
def tf7_shuffle_each_epoch(folder):
    """Small epochs: the shuffle buffer is filled again every fourth step."""
    def element(i):
        a = tf.fill((120, 120), tf.cast(i, tf.float32))
        return tf.reshape(tf.matmul(a, a), (-1,))[:384] / 1e9
    data = tf.data.Dataset.range(128).map(element).shuffle(128).repeat().batch(32)
    return record(folder, as_written(data), tf.function(Net().train), count=12, waits=True)


@program()
def tf7_function_anew(folder):
    """tf.function of a lambda is made anew in each step."""
    net, x = Net(128, 3), tf.constant(ROWS[:64, :128])
    clock = record(folder, in_memory(32), lambda _: tf.function(lambda v: net.train(v))(x), count=5)
    compiled = tf.function(net.train)
    clock.instead_of(each_call_ms(lambda: compiled(x).numpy()))
    return clock


@program()
def tf7_smooths_eagerly(folder):
    """200 operations on a vector before each compiled step, none compiled."""
    step, v = tf.function(Net().train), tf.random.normal((64,))

    def smooth(clock, k):
        with clock.cause():
            h = v
            for _ in range(70):
                h = tf.tanh(h * 0.9 + 0.1)
            h.numpy()
    return record(folder, in_memory(64), step, count=5, before=smooth)


@program()
def tf7_reads_elements(folder):
    """150 elements of the outputs are read with numpy(), one by one."""
    step, scores = tf.function(Net().train), tf.random.normal((150,))

    def read(clock, k):
        with clock.cause():
            sum(float(scores[i].numpy()) for i in range(150))
    return record(folder, in_memory(64), step, count=5, after=read)


@program()
def tf7_evaluates_every_third(folder):
    """A compiled function goes through held-out rows after every third step."""
    net = Net()

    @tf.function
    def score(x):
        for w in net.kernels:
            x = tf.nn.gelu(x @ w)
        return tf.reduce_mean(x)
    held_out = tf.constant(np.tile(ROWS, (2, 1)))
    score(held_out)

    def evaluate(clock, k):
        if k % 3 == 2:
            with clock.cause():
                for _ in range(6):
                    score(held_out).numpy()
    return record(folder, in_memory(64), tf.function(net.train), count=12, after=evaluate)


@program()
def tf7_writes_every_fourth(folder):
    """tf.train.Checkpoint.write of 12 MB in every fourth step."""
    checkpoint = tf.train.Checkpoint(v=tf.Variable(tf.random.normal((1700, 1700))))
    with tempfile.TemporaryDirectory() as d:
        def save(clock, k):
            if k % 4 == 1:
                with clock.cause():
                    checkpoint.write(f'{d}/w')
        return record(folder, in_memory(64), tf.function(Net().train), count=12, after=save)


@program()
def tf7_prints(folder):
    """tf.print writes a whole tensor in the compiled step."""
    net = Net()
    with tempfile.TemporaryDirectory() as d:
        target = f'file://{d}/log'

        @tf.function
        def loud(x):
            loss = net.train(x)
            tf.print(net.kernels[0][:160], summarize=-1, output_stream=target)
            return loss
        clock = record(folder, in_memory(64), loud, count=6)
    quiet, x = tf.function(net.train), tf.constant(ROWS[:64])
    clock.instead_of(each_call_ms(lambda: quiet(x).numpy()))
    return clock


@program()
def tf7_queries_before(folder):
    """Python waits for a database before each step; no tracer."""
    def query(clock, k):
        with clock.cause():
            time.sleep(0.018)
    return record(folder, in_memory(128), tf.function(Net().train), before=query)


@program()
def tf7_python_map_parallel(folder):
    """numpy_function in a parallel map, but Python computes one element at a time."""
    def parse(i):
        busy(1.2)
        return np.full(384, i % 7, 'f4')
    data = tf.data.Dataset.range(10 ** 6).map(lambda i: tf.ensure_shape(tf.numpy_function(parse, [i], tf.float32), (384,)), num_parallel_calls=2)
    return record(folder, data.batch(16).prefetch(1), tf.function(Net().train), waits=True)


@program(tries=4)
def tf7_healthy_ahead(folder):
    """A cheap parallel map, read ahead, and a large step."""
    data = in_memory(1).unbatch().map(lambda x: x * 2 - 1, num_parallel_calls=2).batch(384).prefetch(tf.data.AUTOTUNE)
    return record(folder, data, tf.function(Net(384, 6).train))


@program(tries=4)
def tf7_healthy_keras_layers(folder):
    """Keras layers and Adam in a tf.function of one's own."""
    import keras
    model = keras.Sequential([keras.layers.Dense(768, 'relu'), keras.layers.Dense(768, 'relu'), keras.layers.Dense(384)])
    optimizer = keras.optimizers.Adam(1e-3)
    model.build((None, 384))
    optimizer.build(model.trainable_variables)

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - x))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss
    return record(folder, in_memory(256), train)


if __name__ == '__main__':
    os.environ.setdefault('KERAS_BACKEND', 'tensorflow')
    program.main()
