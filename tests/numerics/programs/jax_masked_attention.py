"""Attention in JAX: one query may look at nothing."""
import sys

import jax
import jax.numpy as jnp

import sonde.debug


def attention(q, k, v, mask):
    scores = q @ k.T / jnp.sqrt(q.shape[-1])
    scores = jnp.where(mask, scores, -jnp.inf)
    weights = jax.nn.softmax(scores, axis=-1)  # FAULT: sub|softmax|exp|div
    return weights @ v


@jax.jit
def loss(w, x, mask):
    return jnp.mean(attention(x @ w, x, x, mask) ** 2)


step = sonde.debug.checked(jax.jit(jax.value_and_grad(loss)), logdir=sys.argv[1], every=2)
w = jnp.eye(4)
for i in range(4):
    mask = jnp.tril(jnp.ones((6, 6), bool))
    if i == 3:
        mask = mask.at[4].set(False)
    value, g = step(w, jax.random.normal(jax.random.PRNGKey(i), (6, 4)), mask)
    w = w - 0.1 * g
