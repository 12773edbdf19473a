"""JAX programs of the fourth batch, recorded before a rule was touched for them: fourth_jax.py [NAME ...]"""
import functools
import os
import tempfile
import time

os.environ['JAX_PLATFORMS'] = 'cpu'
import jax
import jax.numpy as jnp
import numpy as np

from recording import Clock, Programs, crunch, each_call_ms

program = Programs()
ROWS = np.random.rand(384, 240).astype('f4')


def new_state(layers=3, width=240):
    return {f'layer{i}': (jnp.asarray(np.random.rand(width, width).astype('f4') * 0.02), jnp.zeros(width)) for i in range(layers)}


def objective(state, x):
    for w, b in state.values():
        x = jnp.tanh(x @ w + b)
    return jnp.mean((x - 0.3) ** 2)


@jax.jit
def improve(state, x):
    value, slope = jax.value_and_grad(objective)(state, x)
    return jax.tree.map(lambda s, g: s - 0.01 * g, state, slope), value


def train_loop(folder, one, clock, count=7, warm=2, tracer=0, mark='train', between=None):
    for k in range(warm):
        one(k)
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = tracer
    jax.profiler.start_trace(folder, profiler_options=options)
    for k in range(warm, warm + count):
        clock.step()
        if mark:
            with jax.profiler.StepTraceAnnotation(mark, step_num=k):
                one(k)
        else:
            one(k)
        if between:
            between(k)
    clock.stop()
    jax.profiler.stop_trace()
    return clock


class Run:
    def __init__(self):
        self.state = new_state()

    def update(self, x=ROWS):
        self.state, value = improve(self.state, x)
        return value.block_until_ready()


@program(tries=2)
def jax4_converts_rows(folder):
    """Rows are turned from whole numbers to floats by NumPy before each step; no tracer."""
    clock, run, raw = Clock(), Run(), np.random.randint(0, 255, (384 * 60, 240), dtype='uint8')

    def one(k):
        with clock.cause():
            x = (raw.astype('f4') / 255).reshape(60, 384, 240).mean(0)
        run.update(x)
    return train_loop(folder, one, clock)


@program(tries=2)
def jax4_jit_in_loop(folder):
    """A new lambda is compiled in each step."""
    clock, x = Clock(), jnp.asarray(ROWS)
    w = jnp.asarray(np.random.rand(240, 240).astype('f4'))

    def one(k):
        jax.jit(lambda w, x: jnp.tanh(x @ w).sum())(w, x).block_until_ready()
    train_loop(folder, one, clock, 5)
    known = jax.jit(lambda w, x: jnp.tanh(x @ w).sum())
    clock.instead_of(each_call_ms(lambda: known(w, x).block_until_ready()))
    return clock


@program(tries=2)
def jax4_static_depth(folder):
    """A static argument has another value in each step."""
    clock, x = Clock(), jnp.asarray(ROWS)
    w = jnp.asarray(np.random.rand(240, 240).astype('f4') * 0.01)

    @functools.partial(jax.jit, static_argnames='scale')
    def project(w, x, scale):
        return (jnp.tanh(x @ w) * scale).sum()
    train_loop(folder, lambda k: project(w, x, scale=1.0 + k).block_until_ready(), clock, 5)
    clock.instead_of(each_call_ms(lambda: project(w, x, scale=2.0).block_until_ready()))
    return clock


@program(tries=2)
def jax4_tokens_traced(folder):
    """Lines are cut into tokens in Python; tracer on."""
    clock, run = Clock(), Run()
    lines = ['the quick brown fox jumps over the lazy dog ' * 3] * 50

    def tokenise_lines():
        with clock.cause():
            crunch(12)
            return [len(line.split()) for line in lines]

    def one(k):
        count = tokenise_lines()
        run.update(ROWS * np.float32(0.001 * count[0]))
    return train_loop(folder, one, clock, 5, tracer=1)


@program(tries=2)
def jax4_io_log(folder):
    """An ordered io_callback writes a line in the compiled step."""
    from jax.experimental import io_callback
    clock, x = Clock(), jnp.asarray(ROWS)
    state = [new_state()]

    def append_line(value):
        with clock.cause():
            time.sleep(0.016)

    @jax.jit
    def logged(state, x):
        value, slope = jax.value_and_grad(objective)(state, x)
        io_callback(append_line, None, value, ordered=True)
        return jax.tree.map(lambda s, g: s - 0.01 * g, state, slope), value

    def one(k):
        state[0], value = logged(state[0], x)
        value.block_until_ready()
        jax.effects_barrier()
    return train_loop(folder, one, clock, 6)


@program(tries=2)
def jax4_scores_every_third(folder):
    """A compiled function scores held-out rows in every third step."""
    clock, run = Clock(), Run()
    held_out = jnp.asarray(np.random.rand(6000, 240).astype('f4'))

    @jax.jit
    def score(state, x):
        return sum(objective(state, x) for _ in range(2)) + objective(state, x * 2)

    def one(k):
        run.update()
        if k % 3 == 2:
            with clock.cause():
                for _ in range(4):
                    score(run.state, held_out).block_until_ready()
    return train_loop(folder, one, clock, 9, warm=3)


@program(tries=2)
def jax4_adam_by_hand(folder):
    """The gradient is compiled, the Adam update of 24 arrays is not."""
    clock = Clock()
    p = [jnp.asarray(np.random.rand(48, 48).astype('f4')) for _ in range(24)]
    m, v = [jnp.zeros_like(a) for a in p], [jnp.zeros_like(a) for a in p]
    slope = jax.jit(jax.grad(lambda p: sum(jnp.mean(jnp.sin(a)) for a in p)))

    def one(k):
        g = slope(p)
        with clock.cause():
            for i in range(24):
                m[i] = 0.9 * m[i] + 0.1 * g[i]
                v[i] = 0.99 * v[i] + 0.01 * g[i] ** 2
                p[i] = p[i] - 0.001 * m[i] / (jnp.sqrt(v[i]) + 1e-8)
            p[-1].block_until_ready()
    return train_loop(folder, one, clock, 4)


@program(tries=2)
def jax4_row_by_row(folder):
    """A small compiled function is called for each of 150 rows and its result read."""
    clock, run = Clock(), Run()
    rows = [jnp.asarray(r) for r in ROWS[:150]]

    @jax.jit
    def weight_of(row):
        return jnp.sum(jnp.tanh(row))

    def one(k):
        run.update()
        with clock.cause():
            sum(float(weight_of(r)) for r in rows)
    return train_loop(folder, one, clock, 4)


@program(tries=2)
def jax4_first_compiles(folder):
    """Recorded from the very first step, which compiles."""
    clock, run = Clock(), [None]

    def one(k):
        if k == 0:
            with clock.cause():
                deep = jax.jit(lambda s, x: jax.grad(objective)(s, x)['layer0'][0].sum())
                run[0] = (deep, new_state(9))
                deep(run[0][1], ROWS).block_until_ready()
        else:
            run[0][0](run[0][1], ROWS).block_until_ready()
    return train_loop(folder, one, clock, 8, warm=0)


@program(tries=2)
def jax4_archives_traced(folder):
    """The state is written with np.savez in each step; tracer on."""
    clock, run, d = Clock(), Run(), tempfile.mkdtemp()

    def one(k):
        run.update()
        with clock.cause():
            np.savez(os.path.join(d, 'state.npz'), *[np.tile(np.asarray(a), (3, 1)) for pair in run.state.values() for a in pair[:1]])
    return train_loop(folder, one, clock, 5, tracer=1)


@program(tries=2)
def jax4_waits_between(folder):
    """Something waits between two marked steps; no tracer."""
    clock, run = Clock(), Run()

    def between(k):
        with clock.cause():
            time.sleep(0.011)
    return train_loop(folder, lambda k: run.update(), clock, between=between)


@program(tries=4)
def jax4_healthy_scan(folder):
    """A recurrent net with lax.scan."""
    w = jnp.asarray(np.random.rand(200, 200).astype('f4') * 0.02)
    x = jnp.asarray(np.random.rand(40, 128, 200).astype('f4'))

    @jax.jit
    def learn(w):
        def total(w):
            return jax.lax.scan(lambda h, a: (jnp.tanh(h @ w + a), None), x[0], x)[0].mean()
        return w - 0.01 * jax.grad(total)(w)
    state = [w]

    def one(k):
        state[0] = learn(state[0]).block_until_ready()
    return train_loop(folder, one, Clock(), 6)


@program(tries=4)
def jax4_healthy_convolution(folder):
    """A convolution, waited for only by reading the loss; tracer on."""
    k1 = jnp.asarray(np.random.rand(24, 3, 3, 3).astype('f4') * 0.1)
    x = jnp.asarray(np.random.rand(24, 3, 48, 48).astype('f4'))

    @jax.jit
    def learn(k1):
        def total(k1):
            return jnp.mean(jax.nn.relu(jax.lax.conv(x, k1, (1, 1), 'SAME')) ** 2)
        value, g = jax.value_and_grad(total)(k1)
        return k1 - 0.01 * g, value
    state = [k1]

    def one(k):
        state[0], value = learn(state[0])
        float(value)
    return train_loop(folder, one, Clock(), 6, tracer=1)


if __name__ == '__main__':
    program.main()
