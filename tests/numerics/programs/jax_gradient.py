"""The gradient of a norm at zero."""
import sys

import jax
import jax.numpy as jnp

import sonde.debug


def energy(x):
    return jnp.sqrt((x * x).sum())  # FAULT: sqrt|div


step = sonde.debug.checked(jax.jit(jax.grad(energy)), logdir=sys.argv[1])
for i in range(4):
    step(jnp.zeros(3) if i == 2 else jnp.arange(3.0))
