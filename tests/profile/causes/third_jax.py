"""JAX programs of the third batch, recorded after the rules were settled: third_jax.py [NAME ...]"""
import os
import time

os.environ['JAX_PLATFORMS'] = 'cpu'
import jax
import jax.numpy as jnp
import numpy as np

from recording import Clock, Programs, each_call_ms

program = Programs()
A = jnp.asarray(np.random.rand(320, 320).astype('f4') * 0.05)


@jax.jit
def relax(a, x):
    for _ in range(4):
        x = jnp.sin(a @ x)
    return x


def recorded(folder, rounds, body, clock=None, tracer=0, name=''):
    clock = clock or Clock()
    for k in range(2):
        body(k)
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = tracer
    with jax.profiler.trace(folder, profiler_options=options):
        for k in range(2, 2 + rounds):
            clock.step()
            if name:
                with jax.profiler.StepTraceAnnotation(name, step_num=k):
                    body(k)
            else:
                body(k)
        clock.stop()
    return clock


@program(tries=3)
def jax3_annotated_fetch(folder):
    """TraceAnnotation fetch_shard around a wait; no Python recorded."""
    clock = Clock()

    def body(k):
        with clock.cause(), jax.profiler.TraceAnnotation('fetch_shard'):
            time.sleep(0.014)
        relax(A, A).block_until_ready()
    return recorded(folder, 6, body, clock, name='relax')


@program(tries=3)
def jax3_many_transfers(folder):
    """Two hundred small arrays are put onto the device one by one."""
    clock, pieces = Clock(), [np.full(16, k, 'f4') for k in range(200)]

    def body(k):
        with clock.cause():
            jax.block_until_ready([jnp.asarray(p) for p in pieces])
        relax(A, A).block_until_ready()
    return recorded(folder, 5, body, clock, name='relax')


@program()
def jax3_grows_tree(folder):
    """The argument has one leaf more in each step: compiled again."""
    total = jax.jit(lambda tree: sum(jnp.sum(jnp.cos(v @ A)) for v in tree.values()))

    def body(k):
        total({f'p{j}': A for j in range(k + 1)}).block_until_ready()
    clock = recorded(folder, 4, body, name='grow')
    tree = {f'p{j}': A for j in range(4)}
    clock.instead_of(each_call_ms(lambda: total(tree).block_until_ready()))
    return clock


@program(tries=3)
def jax3_board_traced(folder):
    """A board is drawn as text after each step; recorded with the Python tracer, not marked."""
    clock = Clock()

    class Board:
        def redraw(self, values):
            with clock.cause():
                '\n'.join(' '.join(f'{v:.3f}' for v in row) for row in values)

    board, values = Board(), np.random.rand(40, 60).tolist()

    def body(k):
        relax(A, A).block_until_ready()
        board.redraw(values)
    return recorded(folder, 3, body, clock, tracer=1)


@program(tries=3)
def jax3_unjitted_unmarked(folder):
    """Forty operations that are not compiled together; nothing marked."""
    small = A[:24, :24]

    def whole(x):
        for _ in range(20):
            x = jnp.tanh(x @ small + 0.5)
        return x.sum()
    clock = recorded(folder, 5, lambda k: whole(small).block_until_ready())
    compiled = jax.jit(whole)
    clock.instead_of(min(each_call_ms(lambda: compiled(small).block_until_ready()) for _ in range(8)))
    return clock


@program(tries=5)
def jax3_healthy_loop(folder):
    """A fori_loop inside one program; recorded with the Python tracer, not marked."""
    run = jax.jit(lambda x: jax.lax.fori_loop(0, 5, lambda i, v: jnp.sin(A @ v), x))
    return recorded(folder, 4, lambda k: run(A).block_until_ready(), tracer=1)


program.main()
