"""JAX programs of the seventh batch, recorded before a rule was touched for them: seventh_jax.py [NAME ...]"""
import contextlib
import functools
import os
import queue
import tempfile
import threading
import time

os.environ['JAX_PLATFORMS'] = 'cpu'
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback

from recording import Clock, Programs, busy, each_call_ms

program = Programs()
X = np.random.rand(448, 288).astype('f4')


def weights(n=4, width=288):
    return [jnp.asarray(np.random.rand(width, width).astype('f4') * 0.02) for _ in range(n)]


def loss_of(w, x):
    for a in w:
        x = jax.nn.silu(x @ a)
    return (x * x).mean()


@jax.jit
def train(w, x):
    value, slope = jax.value_and_grad(loss_of)(w, x)
    return [a - 1e-3 * g for a, g in zip(w, slope)], value


def record(folder, step, count=8, warm=2, python=0, clock=None):
    clock = clock or Clock()
    for k in range(warm):
        step(k)
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = python
    jax.profiler.start_trace(folder, profiler_options=options)
    for k in range(warm, warm + count):
        clock.step()
        with jax.profiler.StepTraceAnnotation('train', step_num=k):
            step(k)
    clock.stop()
    jax.profiler.stop_trace()
    return clock


def trained(folder, before=None, after=None, **options):
    """The usual step with something of Python `before` or `after` it, each called with the number of the step."""
    state, clock = [weights()], Clock()

    def step(k):
        x = X
        if before:
            with clock.cause():
                x = before(k)
        state[0], loss = train(state[0], x)
        loss.block_until_ready()
        if after:
            with clock.cause():
                after(k, state[0])
    return record(folder, step, clock=clock, **options)


@program()
def jax7_reads_untraced(folder):
    """The next rows are waited for in the loop; no tracer."""
    def next_rows(k):
        time.sleep(0.02)
        return X
    return trained(folder, before=next_rows)


@program()
def jax7_another_type(folder):
    """The rows have another type in each step: compiled again."""
    w, kinds = weights(3), [jnp.float32, jnp.float16, jnp.bfloat16, jnp.int8, jnp.int16, jnp.int32, jnp.uint8, jnp.uint16]

    @jax.jit
    def step(w, x):
        return loss_of(w, x.astype(jnp.float32))
    clock = record(folder, lambda k: step(w, jnp.asarray(X).astype(kinds[k % 8])).block_until_ready(), count=6)
    clock.instead_of(each_call_ms(lambda: step(w, X).block_until_ready()))
    return clock


@program()
def jax7_static_rate(folder):
    """The learning rate is a static argument and decays."""
    state = [weights(3)]

    @functools.partial(jax.jit, static_argnums=2)
    def update(w, x, rate):
        value, slope = jax.value_and_grad(loss_of)(w, x)
        return [a - rate * g for a, g in zip(w, slope)], value

    def step(k):
        state[0], value = update(state[0], X, 0.1 / (k + 1))
        value.block_until_ready()
    clock = record(folder, step, count=5)
    clock.instead_of(each_call_ms(lambda: update(state[0], X, 0.1)[1].block_until_ready()))
    return clock


@program()
def jax7_debug_prints(folder):
    """jax.debug.print of every layer in the compiled step."""
    w = weights()

    @jax.jit
    def step(w, x):
        for i, a in enumerate(w):
            x = jax.nn.silu(x @ a)
            jax.debug.print('layer {i}: {v}', i=i, v=x[:40], ordered=True)
        return x.mean()
    with open(os.devnull, 'w') as f, contextlib.redirect_stdout(f):
        clock = record(folder, lambda k: (step(w, X).block_until_ready(), jax.effects_barrier()), count=6)
    quiet = jax.jit(loss_of)
    clock.instead_of(each_call_ms(lambda: quiet(w, X).block_until_ready()))
    return clock


@program()
def jax7_io_lookup(folder):
    """io_callback to a function of Python that computes."""
    clock, w = Clock(), weights()

    def look_up(v):
        with clock.cause():
            busy(14)
        return v

    @jax.jit
    def step(w, x):
        y = io_callback(look_up, jax.ShapeDtypeStruct((288,), jnp.float32), x[0])
        return loss_of(w, x + y)
    return record(folder, lambda k: step(w, X).block_until_ready(), clock=clock)


@program()
def jax7_floats(folder):
    """180 elements are read with float(), one by one."""
    def read(k, w):
        return sum(float(w[0][i, 0]) for i in range(180))
    return trained(folder, after=read, count=5)


@program()
def jax7_evaluates_every_third(folder):
    """evaluate() after every third step; tracer on."""
    state, clock, score = [weights()], Clock(), jax.jit(loss_of)
    held_out = jnp.asarray(np.tile(X, (6, 1)))
    score(state[0], held_out).block_until_ready()

    def evaluate():
        return [score(state[0], held_out).block_until_ready() for _ in range(3)]

    def step(k):
        state[0], loss = train(state[0], X)
        loss.block_until_ready()
        if k % 3 == 1:
            with clock.cause():
                evaluate()
    return record(folder, step, count=9, python=1, clock=clock)


@program()
def jax7_saves_every_fifth(folder):
    """np.savez of the weights and more in every fifth step; no tracer."""
    state, clock, extra = [weights()], Clock(), np.random.rand(3000000)
    with tempfile.TemporaryDirectory() as d:
        def step(k):
            state[0], loss = train(state[0], X)
            loss.block_until_ready()
            if k % 5 == 4:
                with clock.cause():
                    np.savez(f'{d}/w.npz', extra, *[np.asarray(a) for a in state[0]])
        return record(folder, step, count=10, clock=clock)


@program()
def jax7_reports_traced(folder):
    """report_progress() after each step; tracer on."""
    def report_progress(k, w):
        time.sleep(0.012)
    return trained(folder, after=report_progress, python=1, count=6)


@program()
def jax7_augments_traced(folder):
    """augment_rows() turns and scales the rows with NumPy before each step; tracer on."""
    def augment_rows(k):
        x = np.concatenate([X] * 8)
        x = np.roll(x, k, axis=1) * np.random.rand(*x.shape).astype('f4')
        return np.sort(x, axis=1)[:448]
    return trained(folder, before=augment_rows, python=1, count=6)


@program()
def jax7_small_programs(folder):
    """Each of 60 small layers is a compiled function of its own."""
    w, x = weights(60, 48), jnp.asarray(X[:16, :48])
    layer = jax.jit(lambda h, a: jnp.tanh(h @ a) * 0.9)

    def forward(h):
        for a in w:
            h = layer(h, a)
        return h
    clock = record(folder, lambda k: forward(x).block_until_ready(), count=6)
    whole = jax.jit(forward)
    clock.instead_of(each_call_ms(lambda: whole(x).block_until_ready()))
    return clock


@program()
def jax7_gradient_eager(folder):
    """jax.grad of a net of 20 layers, not compiled."""
    w, x = weights(20, 64), jnp.asarray(X[:16, :64])
    slope = jax.grad(loss_of)
    clock = record(folder, lambda k: jax.block_until_ready(slope(w, x)), count=4)
    compiled = jax.jit(slope)
    clock.instead_of(each_call_ms(lambda: jax.block_until_ready(compiled(w, x))))
    return clock


@program(tries=4)
def jax7_healthy_thread(folder):
    """A thread makes the next rows while the step runs."""
    made = queue.Queue(2)

    def produce():
        while True:
            made.put(X + np.float32(0.01))
    threading.Thread(target=produce, daemon=True).start()
    state = [weights(6)]

    def step(k):
        state[0], loss = train(state[0], made.get())
        loss.block_until_ready()
    return record(folder, step)


@program(tries=4)
def jax7_healthy_reads_loss(folder):
    """The loss is read with float() in each step."""
    state = [weights(6)]

    def step(k):
        state[0], loss = train(state[0], X)
        float(loss)
    return record(folder, step)


@program(tries=4)
def jax7_healthy_attention(folder):
    """Attention over sequences, compiled as a whole; tracer on."""
    q, x = weights(3, 128), jnp.asarray(np.random.rand(8, 160, 128).astype('f4'))

    @jax.jit
    def step(w, x):
        def loss(w):
            a, b, c = (x @ v for v in w)
            return (jax.nn.softmax(a @ b.transpose(0, 2, 1)) @ c).var()
        return [v - 0.1 * g for v, g in zip(w, jax.grad(loss)(w))]
    state = [q]

    def one(k):
        state[0] = jax.block_until_ready(step(state[0], x))
    return record(folder, one, python=1)


if __name__ == '__main__':
    program.main()
