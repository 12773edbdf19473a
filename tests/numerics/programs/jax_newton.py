"""Newton's method in a while loop: the slope reaches zero."""
import sys

import jax
import jax.numpy as jnp

import sonde.debug


def f(x):
    return x * x - 2


def body(state):
    i, x = state
    step = f(x) / jax.grad(f)(x)  # FAULT: div
    return i + 1, x - step


@jax.jit
def root(x):
    return jax.lax.while_loop(lambda s: s[0] < 5, body, (0, x))[1]


root = sonde.debug.checked(root, logdir=sys.argv[1])
for start in (2.0, 1.5):
    root(jnp.float32(start))
root(jnp.float32(0.0))
