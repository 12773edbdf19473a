"""JAX programs of the sixth batch: sixth_jax.py [NAME ...]"""
import time

from fourth_jax import ROWS, Run, new_state, objective, train_loop
import jax
import jax.numpy as jnp
import numpy as np

from recording import Clock, Programs, each_call_ms

program = Programs()


@program(tries=3)
def jax6_measures_eager(folder):
    """Forty measures of the state after each step, each an operation of its own."""
    clock, run = Clock(), Run()

    def one(k):
        run.update()
        with clock.cause():
            w = run.state['layer0'][0]
            for i in range(40):
                jnp.max(jnp.abs(w[i] * 2)).block_until_ready()
    return train_loop(folder, one, clock, 4)


@program(tries=3)
def jax6_sorts_rows(folder):
    """NumPy sorts rows before each step; not marked, no tracer."""
    clock, run = Clock(), Run()
    raw = np.random.rand(384 * 8, 240).astype('f4')

    def one(k):
        with clock.cause():
            x = np.sort(raw, axis=0)[:384]
        run.update(x)
    return train_loop(folder, one, clock, 7, mark='')


@program(tries=3)
def jax6_tree_grows(folder):
    """The state has one more entry in each step."""
    clock, state = Clock(), {'a': jnp.ones((64, 64))}
    total = jax.jit(lambda s: sum(jnp.tanh(v @ v).sum() for v in s.values()))

    def one(k):
        state[f'x{k}'] = jnp.ones((64, 64)) * k
        total(state).block_until_ready()
    train_loop(folder, one, clock, 5)
    clock.instead_of(each_call_ms(lambda: total(state).block_until_ready()))
    return clock


@program(tries=3)
def jax6_full_evaluation(folder):
    """full_evaluation() in every fifth step; tracer on."""
    clock, run = Clock(), Run()
    held_out = jnp.asarray(np.random.rand(2500, 240).astype('f4'))
    score = jax.jit(objective)
    score(run.state, held_out).block_until_ready()

    def full_evaluation():
        with clock.cause():
            return [float(score(run.state, held_out)) for _ in range(4)]

    def one(k):
        run.update()
        if k % 5 == 4:
            full_evaluation()
    return train_loop(folder, one, clock, 10, tracer=1)


@program(tries=3)
def jax6_fetches_config(folder):
    """reread_settings() in the loop; tracer on, not marked."""
    clock, run = Clock(), Run()

    def reread_settings():
        with clock.cause():
            time.sleep(0.009)

    def one(k):
        reread_settings()
        run.update()
    return train_loop(folder, one, clock, 5, tracer=1, mark='')


@program(tries=5)
def jax6_healthy_donated(folder):
    """A state that is given away to the step."""
    step = jax.jit(lambda s, x: jax.tree.map(lambda a, g: a - 0.01 * g, s, jax.grad(objective)(s, x)), donate_argnums=0)
    state = [new_state(5)]

    def one(k):
        state[0] = jax.block_until_ready(step(state[0], ROWS))
    return train_loop(folder, one, Clock(), 6)


if __name__ == '__main__':
    program.main()
