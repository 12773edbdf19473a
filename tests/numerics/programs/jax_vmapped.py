"""log(sum(exp)) by hand under vmap, overflowing in float32."""
import sys

import jax
import jax.numpy as jnp

import sonde.debug


def free_energy(row):
    weights = jnp.exp(row)  # FAULT: exp
    return jnp.log(weights.sum())


@jax.jit
def energy(x):
    return jax.vmap(free_energy)(x).mean()


energy = sonde.debug.checked(energy, logdir=sys.argv[1])
for scale in (1.0, 10.0, 100.0):
    energy(jax.random.normal(jax.random.PRNGKey(3), (6, 5)) * scale)
