"""TensorFlow programs of the fourth batch, recorded before a rule was touched for them: fourth_tensorflow.py [NAME ...]"""
import os
import tempfile
import time

os.environ.update(TF_CPP_MIN_LOG_LEVEL='2', CUDA_VISIBLE_DEVICES='')
import numpy as np
import tensorflow as tf

from recording import Clock, Programs, busy, each_call_ms

program = Programs()
tf.random.set_seed(4)


class Scorer(tf.Module):
    def __init__(self, width=320, layers=3):
        super().__init__()
        self.layers = [(tf.Variable(tf.random.normal((width, width)) * 0.03), tf.Variable(tf.zeros(width))) for _ in range(layers)]

    def __call__(self, x):
        for w, b in self.layers:
            x = tf.tanh(x @ w + b)
        return x

    def fit(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x) - 0.5))
        variables = self.trainable_variables
        for v, g in zip(variables, tape.gradient(loss, variables)):
            v.assign_sub(0.01 * g)
        return loss


def train_loop(folder, one, clock, count=7, warm=3, tracer=0, between=None):
    """Steps marked with Trace; `between` runs after the mark has ended."""
    for k in range(warm):
        one(k)
    tf.profiler.experimental.start(folder, tf.profiler.experimental.ProfilerOptions(python_tracer_level=tracer))
    for k in range(warm, warm + count):
        clock.step()
        with tf.profiler.experimental.Trace('train', step_num=k, _r=1):
            one(k)
        if between:
            between(k)
    clock.stop()
    tf.profiler.experimental.stop()
    return clock


def fed_by(folder, dataset, **options):
    clock, batches, step = Clock(), iter(dataset), tf.function(Scorer().fit)

    def one(k):
        with clock.cause():
            x = next(batches)
        step(x).numpy()
    return train_loop(folder, one, clock, **options)


def as_written(dataset):
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    return dataset.with_options(options)


@program(tries=2)
def tf4_generator(folder):
    """from_generator with rows made in Python, batch, prefetch."""
    def lines():
        while True:
            time.sleep(0.0012)
            yield np.ones(320, 'f4')
    data = tf.data.Dataset.from_generator(lines, output_signature=tf.TensorSpec((320,), tf.float32)).batch(24).prefetch(1)
    return fed_by(folder, as_written(data))


@program(tries=2)
def tf4_records(folder):
    """TFRecords parsed one after the other: a map without num_parallel_calls."""
    d = tempfile.mkdtemp()
    path = os.path.join(d, 'rows.tfrecord')
    with tf.io.TFRecordWriter(path) as out:
        for _ in range(64):
            out.write(tf.train.Example(features=tf.train.Features(feature={f'f{i}': tf.train.Feature(float_list=tf.train.FloatList(value=np.random.rand(80))) for i in range(40)})).SerializeToString())
    spec = {f'f{i}': tf.io.FixedLenFeature([80], tf.float32) for i in range(40)}

    def parse(record):
        f = tf.io.parse_single_example(record, spec)
        return tf.add_n([f[f'f{i}'] for i in range(40)])[:80]
    data = tf.data.TFRecordDataset(path).repeat().map(parse).batch(128).map(lambda x: tf.tile(x, (1, 4)))
    return fed_by(folder, as_written(data))


@program(tries=2)
def tf4_padded(folder):
    """Lines are split and turned into numbers, then padded to the longest."""
    lines = [' '.join(str(i % 97) for i in range(200 + k % 120)) for k in range(400)]
    data = tf.data.Dataset.from_tensor_slices(lines).repeat().map(lambda s: tf.strings.to_number(tf.strings.split(s))).padded_batch(96, [320])
    return fed_by(folder, as_written(data))


@program(tries=2)
def tf4_python_rows(folder):
    """tf.py_function in a map; Python computes."""
    def make(i):
        busy(1.5)
        return tf.ones(320) * tf.cast(i, tf.float32)
    data = tf.data.Dataset.range(10 ** 6).map(lambda i: tf.ensure_shape(tf.py_function(make, [i], tf.float32), (320,))).batch(16).prefetch(2)
    return fed_by(folder, as_written(data))


@program(tries=2)
def tf4_heavy_map(folder):
    """A map that is parallel already and still too slow for the step."""
    def spectrum(i):
        a = tf.random.stateless_normal((220, 220), [3, tf.cast(i, tf.int32)])
        return tf.reduce_sum(tf.linalg.qr(a)[1], axis=0)
    data = tf.data.Dataset.range(10 ** 6).map(spectrum, num_parallel_calls=2).batch(12).map(lambda x: tf.pad(x, ((0, 0), (0, 100)))).prefetch(1)
    return fed_by(folder, as_written(data))


@program(tries=2)
def tf4_rate_retraces(folder):
    """The rate is a Python number that changes: the function is traced in each step."""
    clock, net = Clock(), Scorer()
    x = tf.random.normal((64, 320))

    @tf.function
    def improve(x, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(net(x)))
        for v, g in zip(net.trainable_variables, tape.gradient(loss, net.trainable_variables)):
            v.assign_sub(rate * g)
        return loss
    train_loop(folder, lambda k: improve(x, 0.1 / (k + 1)).numpy(), clock, 6)
    clock.instead_of(each_call_ms(lambda: improve(x, 0.1).numpy()))
    return clock


@program(tries=2)
def tf4_writes_images(folder):
    """tf.summary.image in each step, flushed; no Python tracer."""
    clock, step = Clock(), tf.function(Scorer().fit)
    x, shown = tf.random.normal((128, 320)), tf.random.uniform((3, 160, 160, 3))
    writer = tf.summary.create_file_writer(tempfile.mkdtemp())

    def one(k):
        step(x).numpy()
        with clock.cause(), writer.as_default():
            tf.summary.image('shown', shown, k)
            writer.flush()
    return train_loop(folder, one, clock, 6)


@program(tries=2)
def tf4_posts_traced(folder):
    """post_metrics() after the mark of each step; asked for frames of Python, of which TensorFlow 2.21 records none."""
    clock, step = Clock(), tf.function(Scorer().fit)
    x = tf.random.normal((128, 320))

    def post_metrics(k):
        with clock.cause():
            time.sleep(0.014)
    return train_loop(folder, lambda k: step(x).numpy(), clock, 6, tracer=1, between=post_metrics)


@program(tries=2)
def tf4_tests_every_fifth(folder):
    """A compiled function goes through the test rows in every fifth step."""
    clock, net = Clock(), Scorer()
    step, x = tf.function(net.fit), tf.random.normal((128, 320))

    @tf.function
    def test_rows():
        total = 0.0
        for _ in range(12):
            total += tf.reduce_sum(net(tf.random.normal((1024, 320))))
        return total
    test_rows()

    def one(k):
        step(x).numpy()
        if k % 5 == 4:
            with clock.cause():
                test_rows().numpy()
    return train_loop(folder, one, clock, 10)


@program(tries=2)
def tf4_cells_eager(folder):
    """A recurrent net of Keras cells called in a loop, without tf.function."""
    clock, cell = Clock(), tf.keras.layers.LSTMCell(48)
    head, x = tf.keras.layers.Dense(1), tf.random.normal((16, 25, 24))

    def learn():
        with tf.GradientTape() as tape:
            states = [tf.zeros((16, 48)), tf.zeros((16, 48))]
            for t in range(25):
                out, states = cell(x[:, t], states)
            loss = tf.reduce_mean(head(out))
        return tape.gradient(loss, cell.trainable_variables)
    train_loop(folder, lambda k: learn()[0].numpy(), clock, 4)
    compiled = tf.function(learn)
    clock.instead_of(each_call_ms(lambda: compiled()[0].numpy()))
    return clock


@program(tries=2)
def tf4_first_traces(folder):
    """Recorded from the very first step, which traces the function."""
    clock, net = Clock(), Scorer(layers=12)
    step, x = tf.function(net.fit), tf.random.normal((64, 320))

    def one(k):
        if len(clock.steps) == 0:
            with clock.cause():
                step(x).numpy()
        else:
            step(x).numpy()
    return train_loop(folder, one, clock, 8, warm=0)


@program(tries=4)
def tf4_healthy_convolution(folder):
    """A small convolutional net fed from memory."""
    k1, k2 = tf.Variable(tf.random.normal((3, 3, 3, 24)) * 0.1), tf.Variable(tf.random.normal((3, 3, 24, 32)) * 0.1)
    data = iter(tf.data.Dataset.from_tensors(np.random.rand(48, 40, 40, 3).astype('f4')).cache().repeat().prefetch(tf.data.AUTOTUNE))

    @tf.function
    def learn(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.conv2d(tf.nn.relu(tf.nn.conv2d(x, k1, 1, 'SAME')), k2, 2, 'SAME') ** 2)
        for v, g in zip((k1, k2), tape.gradient(loss, (k1, k2))):
            v.assign_sub(0.01 * g)
        return loss
    return train_loop(folder, lambda k: learn(next(data)).numpy(), Clock(), 6)


@program(tries=4)
def tf4_healthy_two_models(folder):
    """Two models, each with a compiled step, one after the other."""
    one_model, other = Scorer(512), Scorer(512, 2)
    a, b, x = tf.function(one_model.fit), tf.function(other.fit), tf.random.normal((256, 512))

    def one(k):
        a(x)
        b(x).numpy()
    return train_loop(folder, one, Clock(), 6)


if __name__ == '__main__':
    program.main()
