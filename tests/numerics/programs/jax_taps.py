"""Taps in a jitted function, between them a reciprocal of zero."""
import sys

import jax
import jax.numpy as jnp

import sonde.debug

sonde.debug.record(sys.argv[1])


@jax.jit
def rates(x):
    x = sonde.debug.tap(x, "distances")
    inverse = sonde.debug.tap(1.0 / x, "inverse")  # FAULT: inverse
    return sonde.debug.tap(inverse / inverse.sum(), "weights")


for i in range(5):
    rates(jnp.array([1.0, 2.0, float(3 - i), 4.0]))
sonde.debug.stop()
