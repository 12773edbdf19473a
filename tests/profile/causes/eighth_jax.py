"""JAX programs of the eighth batch, written before the rules mended for the seventh were built: eighth_jax.py [NAME ...]"""
import json
import tempfile
import time

from seventh_jax import X, loss_of, record, train, trained, weights
import jax
import jax.numpy as jnp
import numpy as np

from recording import Clock, Programs, busy, each_call_ms

program = Programs()


@program()
def jax8_callback_in_scan(folder):
    """pure_callback in each of six turns of a scan."""
    clock, w = Clock(), weights(1)[0]

    def table(v):
        with clock.cause():
            time.sleep(0.003)
        return v

    @jax.jit
    def step(x):
        def turn(h, _):
            h = jnp.tanh(h @ w)
            return h + jax.pure_callback(table, jax.ShapeDtypeStruct((288,), jnp.float32), h[0]), None
        return jax.lax.scan(turn, x, None, length=6)[0].sum()
    return record(folder, lambda k: step(X).block_until_ready(), clock=clock)


@program()
def jax8_percentiles(folder):
    """NumPy takes percentiles of the outputs after each step; no tracer."""
    rows = np.random.rand(700, 700)
    return trained(folder, after=lambda k, w: np.percentile(rows + np.asarray(w[0])[0, 0], [5, 50, 95]))


@program()
def jax8_grows_every_fourth(folder):
    """The number of rows grows in every fourth step, which compiles."""
    state, clock = [weights()], Clock()

    def step(k):
        start = time.perf_counter()
        state[0], loss = train(state[0], X[:200 + 10 * (k // 4)])
        loss.block_until_ready()
        if k % 4 == 0:
            clock.add(1e3 * (time.perf_counter() - start))
    return record(folder, step, count=12, clock=clock)


@program()
def jax8_disabled_jit(folder):
    """jax.disable_jit() was left on after debugging."""
    w, x = weights(6, 96), jnp.asarray(X[:32, :96])

    @jax.jit
    def update(w, x):
        return [a - 1e-3 * g for a, g in zip(w, jax.grad(loss_of)(w, x))]
    with jax.disable_jit():
        clock = record(folder, lambda k: jax.block_until_ready(update(w, x)), count=4)
    clock.instead_of(each_call_ms(lambda: jax.block_until_ready(update(w, x))))
    return clock


@program()
def jax8_generator_traced(folder):
    """Batches come from a generator that joins NumPy rows; tracer on."""
    def stream_examples():
        while True:
            yield np.stack([np.sort(np.random.rand(288)).astype('f4') for _ in range(448)])
    source = stream_examples()
    return trained(folder, before=lambda k: next(source), python=1, count=5)


@program()
def jax8_metrics_file_traced(folder):
    """append_metrics() rewrites a file of JSON after each step; tracer on."""
    history = [{'step': i, 'loss': 0.1 * i} for i in range(4000)]
    with tempfile.TemporaryDirectory() as d:
        def append_metrics(k, w):
            with open(f'{d}/m.json', 'w') as f:
                f.write(json.dumps(history))
        return trained(folder, after=append_metrics, python=1, count=5)


@program()
def jax8_every_second(folder):
    """Something is computed by Python in every second step; no tracer."""
    state, clock = [weights()], Clock()

    def step(k):
        state[0], loss = train(state[0], X)
        loss.block_until_ready()
        if k % 2:
            with clock.cause():
                busy(25)
    return record(folder, step, count=10, clock=clock)


@program()
def jax8_masks_eager(folder):
    """Masks and positions are made by 60 operations before each compiled step."""
    x, state, clock = jnp.asarray(X), [weights()], Clock()

    def step(k):
        with clock.cause():
            m = jnp.zeros((448, 1))
            for i in range(20):
                m = jnp.maximum(m, jnp.sin(x[:, i:i + 1] * i))
            m.block_until_ready()
        state[0], loss = train(state[0], x)
        loss.block_until_ready()
    return record(folder, step, count=5, clock=clock)


@program(tries=4)
def jax8_healthy_scan(folder):
    """A scan over time, marked; the result is waited for."""
    w = weights(2, 192)

    @jax.jit
    def step(w, x):
        def loss(w):
            return jax.lax.scan(lambda h, v: (jnp.tanh(h @ w[0] + v @ w[1]), None), jnp.zeros((64, 192)), x)[0].mean()
        return [a - 0.1 * g for a, g in zip(w, jax.grad(loss)(w))]
    state, x = [w], jnp.asarray(np.random.rand(40, 64, 192).astype('f4'))

    def one(k):
        state[0] = jax.block_until_ready(step(state[0], x))
    return record(folder, one)


@program(tries=4)
def jax8_healthy_batches(folder):
    """Another batch of NumPy in each step, tracer on."""
    state, rows = [weights(6)], np.random.rand(448 * 12, 288).astype('f4')

    def step(k):
        state[0], loss = train(state[0], rows[448 * k:448 * (k + 1)])
        loss.block_until_ready()
    return record(folder, step, python=1)


if __name__ == '__main__':
    program.main()
