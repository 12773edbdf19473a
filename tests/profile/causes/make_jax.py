"""JAX programs that are slow for one known reason, and some that are not: make_jax.py [NAME ...]"""
import functools
import os
import tempfile
import time

os.environ['JAX_PLATFORMS'] = 'cpu'
import jax
import jax.numpy as jnp
import numpy as np

from recording import Clock, Programs, busy, each_call_ms

program = Programs()
ROWS = np.random.rand(256, 192).astype('f4')


def parameters(layers=3, width=192):
    return [jnp.asarray(np.random.rand(width, width).astype('f4') * 0.03) for _ in range(layers)]


def loss_of(weights, x):
    h = x
    for w in weights:
        h = jnp.tanh(h @ w)
    return (h * h).mean()


@jax.jit
def update(weights, x):
    loss, slope = jax.value_and_grad(loss_of)(weights, x)
    return [w - 0.01 * s for w, s in zip(weights, slope)], loss


def record(folder, step, clock=None, steps=6, warm=2, python=0, marked=True):
    clock = clock or Clock()
    for i in range(warm):
        step(i)
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = python
    jax.profiler.start_trace(folder, profiler_options=options)
    for i in range(warm, warm + steps):
        clock.step()
        if marked:
            with jax.profiler.StepTraceAnnotation('update', step_num=i):
                step(i)
        else:
            step(i)
    clock.stop()
    jax.profiler.stop_trace()
    return clock


@program()
def jax_io_callback(folder):
    """jax.experimental.io_callback inside the compiled step."""
    from jax.experimental import io_callback
    clock = Clock()

    def store(v):
        with clock.cause():
            time.sleep(0.015)
        return np.float32(0)

    @jax.jit
    def one(weights, x):
        weights, loss = update(weights, x)
        return weights, loss + io_callback(store, jax.ShapeDtypeStruct((), jnp.float32), loss, ordered=True)
    state = [parameters()]

    def step(i):
        state[0], loss = one(state[0], ROWS)
        loss.block_until_ready()
    return record(folder, step, clock)


@program()
def jax_static_argument(folder):
    """A static argument with another value in each step compiles again."""
    @functools.partial(jax.jit, static_argnums=2)
    def one(weights, x, n):
        weights, loss = update(weights, x)
        return weights, loss * n
    state = [parameters()]

    def step(i):
        state[0], loss = one(state[0], ROWS, i)
        loss.block_until_ready()
    clock = record(folder, step, steps=4)
    clock.instead_of(each_call_ms(lambda: one(state[0], ROWS, 2)[1].block_until_ready()))
    return clock


@program()
def jax_silent_python(folder):
    """Python after each step that nothing records."""
    clock, state = Clock(), [parameters()]

    def step(i):
        state[0], loss = update(state[0], ROWS)
        loss.block_until_ready()
        with clock.cause():
            busy(12)
    return record(folder, step, clock)


@program()
def jax_save_traced(folder):
    """np.savez after each step; recorded with the Python tracer."""
    clock, state, where = Clock(), [parameters()], tempfile.mkdtemp()
    big = np.random.rand(900, 1000)

    def save_parameters(weights):
        with clock.cause():
            np.savez(os.path.join(where, 'weights.npz'), big, *[np.asarray(w) for w in weights])

    def step(i):
        state[0], loss = update(state[0], ROWS)
        loss.block_until_ready()
        save_parameters(state[0])
    return record(folder, step, clock, python=1, steps=4)


@program()
def jax_gradient_unjitted(folder):
    """value_and_grad without jit."""
    weights, x = parameters(12, 16), jnp.asarray(ROWS[:8, :16])
    slope = jax.value_and_grad(loss_of)
    clock = record(folder, lambda i: slope(weights, x)[0].block_until_ready(), steps=3)
    whole = jax.jit(slope)
    clock.instead_of(each_call_ms(lambda: whole(weights, x)[0].block_until_ready()))
    return clock


@program()
def jax_reader_unmarked(folder):
    """read_rows() before each compiled step, the steps not marked; recorded with the Python tracer."""
    clock, state = Clock(), [parameters()]

    def read_rows():
        with clock.cause():
            time.sleep(0.018)
        return ROWS

    def step(i):
        x = read_rows()
        state[0], loss = update(state[0], x)
        loss.block_until_ready()
    return record(folder, step, clock, python=1, marked=False)


@program(tries=4)
def jax_healthy_scan(folder):
    """Eight updates in one compiled program."""
    @jax.jit
    def many(weights, x):
        return jax.lax.scan(lambda w, _: update(w, x), weights, None, length=8)
    state = [parameters()]

    def step(i):
        state[0], loss = many(state[0], ROWS)
        loss.block_until_ready()
    return record(folder, step, steps=3)


@program(tries=4)
def jax_healthy_traced(folder):
    """Large products, recorded with the Python tracer."""
    state, x = [parameters(3, 768)], np.random.rand(768, 768).astype('f4')

    def step(i):
        state[0], loss = update(state[0], x)
        loss.block_until_ready()
    return record(folder, step, steps=5, python=1)


program.main()
