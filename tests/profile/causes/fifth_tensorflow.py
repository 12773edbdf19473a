"""TensorFlow programs of the fifth batch: fifth_tensorflow.py [NAME ...]"""
import os
import tempfile
import time

from fourth_tensorflow import Scorer, as_written, fed_by, train_loop
import numpy as np
import tensorflow as tf

from recording import Clock, Programs, crunch, each_call_ms

program = Programs()
ROWS = tf.random.normal((128, 320))


@program(tries=2)
def tf5_png(folder):
    """PNG images are decoded one after the other."""
    picture = tf.io.encode_png(tf.cast(tf.random.uniform((220, 220, 3), 0, 255, tf.int32), tf.uint8)).numpy()

    def decode(_):
        return tf.reshape(tf.cast(tf.image.resize(tf.io.decode_png(tf.constant(picture)), (10, 32)), tf.float32)[..., 0], (320,))
    return fed_by(folder, as_written(tf.data.Dataset.range(10 ** 6).map(decode).batch(12)))


@program(tries=2)
def tf5_no_prefetch(folder):
    """A parallel map at the end of the pipeline, nothing is made ahead."""
    def features(i):
        a = tf.random.stateless_normal((260, 260), [1, tf.cast(i, tf.int32)])
        return tf.reduce_sum(tf.matmul(a, a), 0)
    data = tf.data.Dataset.range(10 ** 6).batch(10).map(lambda b: tf.pad(tf.map_fn(features, b, fn_output_signature=tf.float32), ((0, 0), (0, 60))))
    return fed_by(folder, as_written(data))


@program(tries=2)
def tf5_interleave_one(folder):
    """Files of compressed records, one at a time."""
    d = tempfile.mkdtemp()
    paths = []
    for k in range(4):
        paths.append(os.path.join(d, f'{k}.tfrecord'))
        with tf.io.TFRecordWriter(paths[-1], 'GZIP') as out:
            for _ in range(60):
                out.write(np.random.rand(320 * 12).astype('f4').tobytes())
    data = tf.data.Dataset.from_tensor_slices(paths).repeat().interleave(lambda p: tf.data.TFRecordDataset(p, 'GZIP'), cycle_length=1)
    data = data.map(lambda r: tf.reduce_mean(tf.reshape(tf.io.decode_raw(r, tf.float32), (12, 320)), 0)).batch(40)
    return fed_by(folder, as_written(data))


@program(tries=2)
def tf5_shuffle_first(folder):
    """The first batch waits until a shuffle buffer is full; recorded from the very first step."""
    def heavy(i):
        a = tf.random.stateless_uniform((90, 90), [2, tf.cast(i, tf.int32)])
        return tf.tile(tf.reduce_sum(tf.matmul(a, a), 0)[:80], (4,))
    data = tf.data.Dataset.range(10 ** 6).map(heavy).shuffle(1300).batch(6)
    clock, batches, net = Clock(), iter(as_written(data)), Scorer()
    step = tf.function(net.fit)
    step(tf.zeros((6, 320)))

    def one(k):
        with clock.cause():
            x = next(batches)
        step(x).numpy()
    return train_loop(folder, one, clock, 8, warm=0)


@program(tries=2)
def tf5_metrics_outside(folder):
    """Sixty small measures of the outputs are taken outside of the function."""
    clock, net = Clock(), Scorer()
    step, see = tf.function(net.fit), tf.function(net.__call__)

    def one(k):
        step(ROWS).numpy()
        out = see(ROWS)
        with clock.cause():
            for i in range(30):
                tf.reduce_mean(out[:, i] * 2.0).numpy()
    return train_loop(folder, one, clock, 5)


@program(tries=2)
def tf5_rows_retrace(folder):
    """Another number of rows in each step."""
    clock, step = Clock(), tf.function(Scorer().fit, reduce_retracing=False)
    train_loop(folder, lambda k: step(ROWS[:40 + 7 * k]).numpy(), clock, 6)
    known = ROWS[:47]
    clock.instead_of(each_call_ms(lambda: step(known).numpy()))
    return clock


@program(tries=2)
def tf5_manager_each(folder):
    """A CheckpointManager saves in each step."""
    clock, net = Clock(), Scorer(600)
    step, x = tf.function(net.fit), tf.random.normal((32, 600))
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(net=net), tempfile.mkdtemp(), 2)

    def one(k):
        step(x).numpy()
        with clock.cause():
            manager.save()
    return train_loop(folder, one, clock, 5)


@program(tries=2)
def tf5_saves_every_third(folder):
    """A checkpoint in every third step."""
    clock, net = Clock(), Scorer(700)
    step, x = tf.function(net.fit), tf.random.normal((32, 700))
    checkpoint, path = tf.train.Checkpoint(net=net), os.path.join(tempfile.mkdtemp(), 'c')

    def one(k):
        step(x).numpy()
        if k % 3 == 0:
            with clock.cause():
                checkpoint.write(path)
    return train_loop(folder, one, clock, 9)


@program(tries=2)
def tf5_counts_in_step(folder):
    """Python computes in the step; nothing traced."""
    clock, step = Clock(), tf.function(Scorer().fit)

    def one(k):
        with clock.cause():
            crunch(9)
        step(ROWS).numpy()
    return train_loop(folder, one, clock, 7)


@program(tries=2)
def tf5_python_inside(folder):
    """The compiled step calls a Python function."""
    clock, net = Clock(), Scorer()

    def penalty(v):
        with clock.cause():
            time.sleep(0.012)
        return np.float32(v)

    @tf.function
    def learn(x):
        loss = net.fit(x)
        return loss + tf.numpy_function(penalty, [loss], tf.float32)
    return train_loop(folder, lambda k: learn(ROWS).numpy(), clock, 6)


@program(tries=4)
def tf5_healthy_attention(folder):
    """Attention written with einsum."""
    q, v = tf.Variable(tf.random.normal((96, 96)) * 0.1), tf.Variable(tf.random.normal((96, 96)) * 0.1)
    x = tf.random.normal((24, 64, 96))

    @tf.function
    def learn():
        with tf.GradientTape() as tape:
            weights = tf.nn.softmax(tf.einsum('bij,bkj->bik', x @ q, x))
            loss = tf.reduce_mean(tf.einsum('bik,bkj->bij', weights, x @ v) ** 2)
        for a, g in zip((q, v), tape.gradient(loss, (q, v))):
            a.assign_sub(0.01 * g)
        return loss
    return train_loop(folder, lambda k: learn().numpy(), Clock(), 6)


@program(tries=4)
def tf5_healthy_recurrent(folder):
    """A Keras LSTM in a function of one's own."""
    layer = tf.keras.layers.LSTM(160)
    x = tf.random.normal((96, 24, 64))

    @tf.function
    def learn():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(layer(x) ** 2)
        for a, g in zip(layer.trainable_variables, tape.gradient(loss, layer.trainable_variables)):
            a.assign_sub(0.01 * g)
        return loss
    return train_loop(folder, lambda k: learn().numpy(), Clock(), 6)


if __name__ == '__main__':
    program.main()
