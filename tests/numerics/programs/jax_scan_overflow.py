"""A recurrence in a scan that passes the end of float32."""
import sys

import jax
import jax.numpy as jnp

import sonde.debug


def cell(h, x):
    h = h * 40.0 + x  # FAULT: mul
    return h, h


@jax.jit
def run(h, xs):
    h, _ = jax.lax.scan(cell, h, xs)
    return h


step = sonde.debug.checked(run, logdir=sys.argv[1])
for length in (3, 5, 80):
    step(jnp.ones(4), jnp.ones((length, 4)))
