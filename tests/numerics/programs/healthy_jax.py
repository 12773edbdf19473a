"""A masked softmax under jit with gradients."""
import sys

import jax
import jax.numpy as jnp

import sonde.debug


def loss_of(w, x):
    scores = jnp.where(jnp.tril(jnp.ones((4, 4), bool)), x @ w, -jnp.inf)
    return (jax.nn.softmax(scores) * x).sum()


step = sonde.debug.checked(jax.jit(jax.grad(loss_of)), logdir=sys.argv[1])
w = jnp.eye(4)
for i in range(5):
    w = w - 0.01 * step(w, jax.random.normal(jax.random.PRNGKey(i), (4, 4)))
