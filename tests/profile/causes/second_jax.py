"""JAX programs of the second batch, written before the rules they are used on: second_jax.py [NAME ...]"""
import gc
import os
import pickle
import tempfile
import time

os.environ['JAX_PLATFORMS'] = 'cpu'
import jax
import jax.numpy as jnp
import numpy as np

from recording import Clock, Programs, each_call_ms
import itertools

program = Programs()
SAMPLES = np.random.rand(384, 128).astype('f4')


def network(sizes=(128, 384, 384, 16)):
    rng = np.random.default_rng(1)
    return {f'layer{k}': {'kernel': jnp.asarray(rng.normal(size=(a, b)).astype('f4') * 0.05), 'bias': jnp.zeros(b)}
            for k, (a, b) in enumerate(itertools.pairwise(sizes))}


def predict(tree, x):
    for part in tree.values():
        x = jax.nn.gelu(x @ part['kernel'] + part['bias'])
    return x


def objective(tree, x):
    return jnp.mean(predict(tree, x) ** 2)


@jax.jit
def train(tree, x):
    value, slopes = jax.value_and_grad(objective)(tree, x)
    return jax.tree.map(lambda p, s: p - 0.05 * s, tree, slopes), value


def recorded(folder, python=0):
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = python
    return jax.profiler.trace(folder, profiler_options=options)


def loop(folder, body, clock=None, count=6, python=0, label=None):
    """A while loop; marked with `label` where one is given."""
    clock, k = clock or Clock(), 0
    while k < 2:
        body(k)
        k += 1
    with recorded(folder, python):
        while k < 2 + count:
            clock.step()
            if label:
                with jax.profiler.StepTraceAnnotation(label, step_num=k):
                    body(k)
            else:
                body(k)
            k += 1
        clock.stop()
    return clock


@program(tries=5)
def jax2_stream_unmarked(folder):
    """A generator that waits for its source; neither steps nor Python recorded."""
    clock, tree = Clock(), network()

    def stream():
        while True:
            with clock.cause():
                time.sleep(0.021)
            yield SAMPLES
    source = stream()

    def body(k):
        nonlocal tree
        tree, value = train(tree, next(source))
        value.block_until_ready()
    return loop(folder, body, clock)


@program(tries=5)
def jax2_minibatches_traced(folder):
    """minibatches() permutes and scales with numpy; not marked, recorded with the Python tracer."""
    clock, tree, whole = Clock(), network(), np.random.rand(20000, 128)

    def minibatches():
        rng = np.random.default_rng(0)
        while True:
            with clock.cause():
                picked = whole[rng.permutation(len(whole))][:384].astype('f4')
            yield picked
    source = minibatches()

    def body(k):
        nonlocal tree
        tree, value = train(tree, next(source))
        value.block_until_ready()
    return loop(folder, body, clock, 5, python=1)


@program()
def jax2_new_function(folder):
    """jax.jit of a new lambda in every step: compiled again and again."""
    tree = network()

    def body(k):
        jax.jit(lambda t, x: objective(t, x) * 2)(tree, SAMPLES).block_until_ready()
    clock = loop(folder, body, count=4, label='epoch_part')
    kept = jax.jit(lambda t, x: objective(t, x) * 2)
    clock.instead_of(each_call_ms(lambda: kept(tree, SAMPLES).block_until_ready()))
    return clock


@program()
def jax2_debug_callback(folder):
    """jax.debug.callback, ordered, to a function that writes a line slowly."""
    clock, tree = Clock(), network()

    def show(value):
        with clock.cause():
            time.sleep(0.018)

    @jax.jit
    def shown(tree, x):
        tree, value = train(tree, x)
        jax.debug.callback(show, value, ordered=True)
        return tree, value

    def body(k):
        nonlocal tree
        tree, value = shown(tree, SAMPLES)
        value.block_until_ready()
        jax.effects_barrier()
    return loop(folder, body, clock, label='train')


@program(tries=5)
def jax2_cells_in_python(folder):
    """A Python loop over 80 time steps, each a call of a small compiled cell."""
    @jax.jit
    def cell(state, x):
        return jnp.tanh(state @ w + x)
    w, xs = jnp.asarray(SAMPLES[:32, :32]), [jnp.asarray(SAMPLES[k, :32]) for k in range(80)]

    def body(k):
        state = jnp.zeros(32)
        for x in xs:
            state = cell(state, x)
        state.block_until_ready()
    clock = loop(folder, body, count=5, label='sequence')
    stacked = jnp.stack(xs)
    scanned = jax.jit(lambda s, x: jax.lax.scan(lambda a, b: (cell(a, b), None), s, x)[0])
    clock.instead_of(each_call_ms(lambda: scanned(jnp.zeros(32), stacked).block_until_ready()))
    return clock


@program(tries=5)
def jax2_update_by_hand(folder):
    """Gradients compiled, the update of 60 leaves not."""
    tree = network((16,) * 31)
    slopes_of = jax.jit(jax.grad(objective))
    clock, x = Clock(), SAMPLES[:32, :16]

    def body(k):
        nonlocal tree
        slopes = jax.block_until_ready(slopes_of(tree, x))
        with clock.cause():
            tree = jax.block_until_ready(jax.tree.map(lambda p, s: p - 0.05 * s, tree, slopes))
    return loop(folder, body, clock, 4, label='train')


@program()
def jax2_validates_every_fourth(folder):
    """validate() over many rows after every fourth step; marked, recorded without Python."""
    clock, tree, many = Clock(), network(), jnp.asarray(np.random.rand(6000, 128).astype('f4'))

    @jax.jit
    def validate(tree, x):
        return objective(tree, x)

    def body(k):
        nonlocal tree
        tree, value = train(tree, SAMPLES)
        value.block_until_ready()
        if k % 4 == 1:
            with clock.cause():
                validate(tree, many).block_until_ready()
    return loop(folder, body, clock, 12, label='train')


@program()
def jax2_dump_traced(folder):
    """The parameters are pickled in every step; recorded with the Python tracer."""
    clock, tree, extra = Clock(), network(), np.random.rand(1500, 1000)

    def keep_best(tree):
        with clock.cause(), open(os.path.join(tempfile.gettempdir(), f'best{os.getpid()}'), 'wb') as f:
            pickle.dump([jax.device_get(tree), extra.tolist()[:60]], f)

    def body(k):
        nonlocal tree
        tree, value = train(tree, SAMPLES)
        value.block_until_ready()
        keep_best(tree)
    return loop(folder, body, clock, 4, python=1, label='train')


@program()
def jax2_garbage_traced(folder):
    """gc.collect() in every step among many objects; recorded with the Python tracer, not marked."""
    clock, tree, _heap = Clock(), network(), [{k: [k]} for k in range(120000)]

    def body(k):
        nonlocal tree
        tree, value = train(tree, SAMPLES)
        value.block_until_ready()
        with clock.cause():
            gc.collect()
    return loop(folder, body, clock, 5, python=1)


@program(tries=5)
def jax2_reads_outputs(folder):
    """All outputs are copied and sorted on the host after each step; nothing of Python recorded."""
    clock, tree = Clock(), network()
    run = jax.jit(predict)
    wide = jnp.asarray(np.random.rand(4000, 128).astype('f4'))

    def body(k):
        values = run(tree, wide).block_until_ready()
        with clock.cause():
            for _ in range(14):
                np.sort(np.array(values), axis=0)
    return loop(folder, body, clock, 5, label='serve')


@program(tries=4)
def jax2_healthy_donated(folder):
    """A large compiled step that takes over its parameters; not marked."""
    tree, x = network((512, 1024, 1024, 512)), np.random.rand(512, 512).astype('f4')
    step = jax.jit(lambda t, v: train(t, v), donate_argnums=0)

    def body(k):
        nonlocal tree
        tree, value = step(tree, x)
        value.block_until_ready()
    return loop(folder, body, count=5)


@program(tries=4)
def jax2_healthy_mapped(folder):
    """vmap over four networks, convolutions, marked."""
    kernels = jnp.asarray(np.random.rand(4, 3, 3, 8, 16).astype('f4'))
    images = jnp.asarray(np.random.rand(8, 24, 24, 8).astype('f4'))

    @jax.jit
    def all_of(kernels):
        one = lambda k: jnp.mean(jax.lax.conv_general_dilated(images, k, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC')) ** 2)
        return kernels - 0.1 * jax.vmap(jax.grad(one))(kernels)

    def body(k):
        nonlocal kernels
        kernels = all_of(kernels).block_until_ready()
    return loop(folder, body, count=4, label='all')


program.main()
