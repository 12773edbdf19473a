"""sonde.summary inside functions that TensorFlow and JAX compile (real frameworks: ./test --all)."""

import numpy as np
import pytest

import sonde
import sonde.summary


def scalars(folder):
    return {tag: s.values.tolist() for (_, tag), s in sonde.load(folder).items() if s.is_scalar}


def test_in_tf_function_with_scopes(tmp_path):
    tf = pytest.importorskip("tensorflow")
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train(x):
        with tf.name_scope("outer"):
            sonde.summary.scalar("loss", tf.reduce_sum(x) * 2)
            sonde.summary.histogram("h", x)
        step.assign_add(1)

    writer = sonde.summary.create_file_writer(tmp_path)
    with writer.as_default(step=step):
        for i in range(3):
            train(tf.ones(4) * i)
        with tf.name_scope("eager"):
            sonde.summary.scalar("b16", tf.constant(1.5, tf.bfloat16))
    log = sonde.load(tmp_path)
    assert log[".", "outer/loss"].values.tolist() == [0, 8, 16] and log[".", "outer/loss"].steps.tolist() == [0, 1, 2]
    assert len(log[".", "outer/h"]) == 3 and log[".", "eager/b16"].values.tolist() == [1.5]


def test_in_jit(tmp_path):
    jax = pytest.importorskip("jax")

    @jax.jit
    def train(x, step):
        sonde.summary.scalar("loss", x.sum(), step=step)
        return x * 2

    with sonde.summary.create_file_writer(tmp_path).as_default():
        for i in range(3):
            train(jax.numpy.ones(4) * i, i)
        jax.effects_barrier()
        sonde.summary.scalar("b16", jax.numpy.asarray(1.5, jax.numpy.bfloat16), step=0)
    log = sonde.load(tmp_path)
    assert sorted(zip(log[".", "loss"].steps.tolist(), log[".", "loss"].values.tolist())) == [(0, 0), (1, 4), (2, 8)]
    assert log[".", "b16"].values.tolist() == [1.5]
    assert np.isfinite(log[".", "loss"].values).all()
