"""JAX programs of the fifth batch: fifth_jax.py [NAME ...]"""
import os
import pickle
import tempfile
import time

from fourth_jax import ROWS, Run, improve, new_state, objective, train_loop
import jax
import jax.numpy as jnp
import numpy as np

from recording import Clock, Programs, crunch, each_call_ms

program = Programs()


@program(tries=2)
def jax5_lookup_callback(folder):
    """Two pure_callbacks in the compiled step."""
    clock, state = Clock(), [new_state()]

    def lookup(v):
        with clock.cause():
            time.sleep(0.007)
        return np.asarray(v)

    @jax.jit
    def step(state, x):
        shape = jax.ShapeDtypeStruct((240,), jnp.float32)
        x = x * jax.pure_callback(lookup, shape, x[0])
        value, slope = jax.value_and_grad(objective)(state, jax.lax.stop_gradient(x))
        return jax.tree.map(lambda s, g: s - 0.01 * g, state, slope), value + jax.pure_callback(lookup, shape, x[1]).sum()

    def one(k):
        state[0], value = step(state[0], ROWS)
        value.block_until_ready()
    return train_loop(folder, one, clock, 6)


@program(tries=2)
def jax5_lengths(folder):
    """Sentences of another length in each step."""
    clock, w = Clock(), jnp.ones((240, 240)) * 0.01

    @jax.jit
    def encode(w, x):
        return jnp.tanh(x @ w).mean()
    train_loop(folder, lambda k: encode(w, ROWS[:31 + 3 * k]).block_until_ready(), clock, 6)
    known = ROWS[:37]
    clock.instead_of(each_call_ms(lambda: encode(w, known).block_until_ready()))
    return clock


@program(tries=2)
def jax5_shard_traced(folder):
    """next_shard() waits for a file server; tracer on, steps not marked."""
    clock, run = Clock(), Run()

    def next_shard(k):
        with clock.cause():
            time.sleep(0.015)
        return ROWS

    return train_loop(folder, lambda k: run.update(next_shard(k)), clock, 6, tracer=1, mark='')


@program(tries=2)
def jax5_shard(folder):
    """The same without the tracer, marked."""
    clock, run = Clock(), Run()

    def one(k):
        with clock.cause():
            crunch(10)
        run.update()
    return train_loop(folder, one, clock, 6)


@program(tries=2)
def jax5_cells_unjitted(folder):
    """A recurrent net of 40 cells, not compiled."""
    clock, w = Clock(), jnp.ones((64, 64)) * 0.01
    x = jnp.asarray(np.random.rand(40, 16, 64).astype('f4'))

    def unroll():
        h = jnp.zeros((16, 64))
        for t in range(40):
            h = jnp.tanh(h @ w + x[t])
        return h.sum()
    train_loop(folder, lambda k: unroll().block_until_ready(), clock, 4)
    compiled = jax.jit(unroll)
    clock.instead_of(each_call_ms(lambda: compiled().block_until_ready()))
    return clock


@program(tries=2)
def jax5_stores_every_fourth(folder):
    """The state is pickled in every fourth step; tracer on."""
    clock, run, d = Clock(), Run(), tempfile.mkdtemp()

    def store_weights():
        with clock.cause(), open(os.path.join(d, 'w'), 'wb') as f:
            time.sleep(0.03)
            pickle.dump(jax.device_get(run.state), f)

    def one(k):
        run.update()
        if k % 4 == 3:
            store_weights()
    return train_loop(folder, one, clock, 12, tracer=1)


@program(tries=2)
def jax5_many_puts(folder):
    """A hundred small arrays are copied to the device in each step, and read back."""
    clock, run = Clock(), Run()
    parts = [np.random.rand(40).astype('f4') for _ in range(100)]

    def one(k):
        run.update()
        with clock.cause():
            there = [jax.device_put(p) for p in parts]
            sum(np.asarray(t)[0] for t in there)
    return train_loop(folder, one, clock, 5)


@program(tries=2)
def jax5_plots_between(folder):
    """draw_curves() between marked steps; tracer on."""
    clock, run = Clock(), Run()

    def draw_curves(k):
        with clock.cause():
            crunch(8)
    return train_loop(folder, lambda k: run.update(), clock, 5, tracer=1, between=draw_curves)


@program(tries=4)
def jax5_healthy_mapped(folder):
    """A function mapped over rows, compiled as a whole; not marked."""
    w = jnp.asarray(np.random.rand(240, 240).astype('f4') * 0.02)
    learn = jax.jit(lambda w, x: w - 0.01 * jax.grad(lambda w: jax.vmap(lambda r: jnp.sin(r @ w) @ w)(x).mean())(w))
    state = [w]

    def one(k):
        state[0] = learn(state[0], ROWS).block_until_ready()
    return train_loop(folder, one, Clock(), 7, mark='')


@program(tries=4)
def jax5_healthy_reads(folder):
    """The loss is read in each step; tracer on."""
    run = Run()
    run.state = new_state(6)

    def one(k):
        run.state, value = improve(run.state, ROWS)
        float(value)
    return train_loop(folder, one, Clock(), 6, tracer=1)


if __name__ == '__main__':
    program.main()
