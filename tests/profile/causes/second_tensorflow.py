"""TensorFlow programs of the second batch, written before the rules they are used on: second_tensorflow.py [NAME ...]"""
import os
import tempfile
import time

os.environ.update(TF_CPP_MIN_LOG_LEVEL='2', CUDA_VISIBLE_DEVICES='')
import numpy as np
import tensorflow as tf

from recording import Clock, Programs, busy, each_call_ms
import itertools

program = Programs()


class Regression(tf.Module):
    def __init__(self, inputs=128, hidden=256, depth=2):
        sizes = [inputs] + [hidden] * depth + [inputs]
        self.kernels = [tf.Variable(tf.random.normal((a, b)) * 0.04) for a, b in itertools.pairwise(sizes)]

    def values(self, x):
        for kernel in self.kernels:
            x = tf.nn.elu(x @ kernel)
        return x

    def learn(self, x):
        with tf.GradientTape() as tape:
            error = tf.reduce_mean(tf.abs(self.values(x) - x))
        for kernel, slope in zip(self.kernels, tape.gradient(error, self.kernels)):
            kernel.assign_add(-0.01 * slope)
        return error


def loop(folder, body, clock=None, count=6, label='train'):
    """Recorded with the context manager; `label` None leaves the steps unmarked."""
    clock = clock or Clock()
    for k in range(3):
        body(k)
    with tf.profiler.experimental.Profile(folder, tf.profiler.experimental.ProfilerOptions(python_tracer_level=0)):
        for k in range(3, 3 + count):
            clock.step()
            if label:
                with tf.profiler.experimental.Trace(label, step_num=k, _r=1):
                    body(k)
            else:
                body(k)
        clock.stop()
    return clock


def fed(folder, dataset, reshape=None, count=6, label='train', size=None):
    """A compiled step on the batches of a dataset; the cause is the time next() takes."""
    clock, batches = Clock(), iter(dataset)
    net = Regression(**(size or {}))
    learn = tf.function(net.learn)

    def body(k):
        with clock.cause():
            x = next(batches)
        learn(reshape(x) if reshape else x).numpy()
    return loop(folder, body, clock, count, label)


def files_of_records(files=6, records=400, numbers=3000):
    folder = tempfile.mkdtemp()
    for k in range(files):
        with tf.io.TFRecordWriter(os.path.join(folder, f'part{k}')) as writer:
            for _ in range(records):
                feature = tf.train.Feature(float_list=tf.train.FloatList(value=np.random.rand(numbers).astype('f4')))
                writer.write(tf.train.Example(features=tf.train.Features(feature={'x': feature})).SerializeToString())
    return sorted(os.path.join(folder, n) for n in os.listdir(folder))


@program()
def tf2_interleave_serial(folder):
    """Files are read and parsed inside an interleave that reads one after the other."""
    def parsed(record):
        return tf.io.parse_single_example(record, {'x': tf.io.FixedLenFeature([3000], tf.float32)})['x'][:128]

    def of_file(name):
        return tf.data.TFRecordDataset(name).map(parsed)
    names = files_of_records()
    return fed(folder, tf.data.Dataset.from_tensor_slices(names).repeat().interleave(of_file, cycle_length=3).batch(128).prefetch(1))


@program()
def tf2_filter_drops(folder):
    """Eleven of twelve elements are made and thrown away by a filter."""
    made = tf.data.Dataset.range(1 << 40).map(lambda k: (k, tf.random.normal((128, 160))))
    kept = made.filter(lambda k, v: k % 12 == 0).map(lambda k, v: v[:, 0])
    return fed(folder, kept.batch(6), count=4)


@program()
def tf2_batches_copy(folder):
    """Elements of 400 kB: the copying of a batch is the work."""
    rows = tf.data.Dataset.from_tensors(tf.random.normal((100000,))).repeat()
    return fed(folder, rows.batch(100), reshape=lambda x: x[:, :128])


@program()
def tf2_png_decode(folder):
    """PNG files decoded by a map with one parallel call, prefetched."""
    picture = tf.io.encode_png(tf.constant(np.random.randint(0, 255, (220, 220, 3), 'u1')))

    def opened(_):
        return tf.image.resize(tf.io.decode_png(picture), (16, 8))[:, :, 0]
    data = tf.data.Dataset.range(1 << 40).map(opened, num_parallel_calls=1).batch(24).prefetch(2)
    return fed(folder, data, reshape=lambda x: tf.reshape(x, (-1, 128)))


@program()
def tf2_generator_unmarked(folder):
    """from_generator behind a batch; the steps are not marked."""
    def lines():
        while True:
            busy(1.5)
            yield np.zeros(128, 'f4')
    data = tf.data.Dataset.from_generator(lines, output_signature=tf.TensorSpec((128,), tf.float32)).batch(12)
    return fed(folder, data, label=None)


@program()
def tf2_python_map(folder):
    """tf.py_function in a map that looks every element up in a table of Python."""
    table = {k: [float(k)] * 128 for k in range(500)}

    def look_up(k):
        busy(1.2)
        return np.array(table[int(k) % 500], 'f4')

    def mapped(k):
        v = tf.py_function(look_up, [k], tf.float32)
        v.set_shape((128,))
        return v
    return fed(folder, tf.data.Dataset.range(1 << 40).map(mapped).batch(14).prefetch(tf.data.AUTOTUNE))


@program()
def tf2_lengths_retrace(folder):
    """Batches of other lengths trace the function again."""
    net = Regression()
    learn = tf.function(net.learn, reduce_retracing=False)

    def body(k):
        learn(tf.ones((16 + k, 128))).numpy()
    clock = loop(folder, body, count=5, label='epoch')
    clock.instead_of(each_call_ms(lambda: learn(tf.ones((16, 128))).numpy()))
    return clock


@program()
def tf2_metrics_eager(folder):
    """After the compiled step forty statistics are computed eagerly, one by one."""
    clock, net = Clock(), Regression()
    learn, x = tf.function(net.learn), tf.random.normal((128, 128))

    def body(k):
        learn(x).numpy()
        with clock.cause():
            for j in range(40):
                tf.reduce_mean(x[:, j]).numpy()
                tf.math.reduce_std(x[:, j]).numpy()
    return loop(folder, body, clock, 4)


@program()
def tf2_histograms(folder):
    """Histograms of all weights are written to a summary in every step."""
    clock, net, writer = Clock(), Regression(depth=4), tf.summary.create_file_writer(tempfile.mkdtemp())
    learn, x = tf.function(net.learn), tf.random.normal((128, 128))

    def body(k):
        learn(x).numpy()
        with clock.cause(), writer.as_default(step=k):
            for j, kernel in enumerate(net.kernels):
                tf.summary.histogram(f'kernel{j}', kernel)
            writer.flush()
    return loop(folder, body, clock, 4)


@program()
def tf2_manager_every_fourth(folder):
    """CheckpointManager.save after every fourth step; not marked."""
    clock, net = Clock(), Regression()
    big = tf.train.Checkpoint(net=net, more=[tf.Variable(tf.random.normal((800, 900))) for _ in range(5)])
    manager = tf.train.CheckpointManager(big, tempfile.mkdtemp(), 2)
    learn, x = tf.function(net.learn), tf.random.normal((256, 128))

    def body(k):
        learn(x).numpy()
        if k % 4 == 0:
            with clock.cause():
                manager.save()
    return loop(folder, body, clock, 12, label=None)


@program()
def tf2_sleeps_unmarked(folder):
    """Python between the calls of a compiled step; nothing is marked."""
    clock, net = Clock(), Regression(hidden=512)
    learn, x = tf.function(net.learn), tf.random.normal((256, 128))

    def body(k):
        learn(x).numpy()
        with clock.cause():
            time.sleep(0.02)
    return loop(folder, body, clock, 7, label=None)


@program(tries=4)
def tf2_healthy_files(folder):
    """Records read and parsed in parallel, prefetched; a large step."""
    def parsed(records):
        return tf.io.parse_example(records, {'x': tf.io.FixedLenFeature([512], tf.float32)})['x']
    names = files_of_records(4, 200, 512)
    data = tf.data.TFRecordDataset(names).repeat().batch(128).map(parsed, tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)
    return fed(folder, data, count=5, size={'inputs': 512, 'hidden': 1536})


@program(tries=4)
def tf2_healthy_inner_loop(folder):
    """A tf.while_loop of ten updates inside one compiled call; not marked."""
    net, x = Regression(hidden=512), tf.random.normal((256, 128))

    @tf.function
    def ten():
        last = 0.0
        for _ in tf.range(6):
            last = net.learn(x)
        return last
    return loop(folder, lambda k: ten().numpy(), count=4, label=None)


program.main()
