"""A guarded root: the branch not taken has an infinite slope, times zero."""
import sys

import jax
import jax.numpy as jnp

import sonde.debug


def safe_root(x):
    return jnp.where(x > 0, jnp.sqrt(x), 0.0)  # FAULT: div|mul|sqrt|pow


def loss(w, x):
    return safe_root(x @ w).sum()


@jax.jit
def update(w, x):
    value, slope = jax.value_and_grad(loss)(w, x)
    return w - 0.01 * slope, value


update = sonde.debug.checked(update, logdir=sys.argv[1])
w = jnp.ones((3, 2))
for i in range(5):
    x = jnp.abs(jax.random.normal(jax.random.PRNGKey(i), (4, 3))) * (-1.0 if i == 3 else 1.0)
    w, value = update(w, x)
