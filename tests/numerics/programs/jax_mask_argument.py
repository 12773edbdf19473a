"""A mask of −∞ comes in as an argument; the fault is the log of a probability that is zero."""
import sys

import jax
import jax.numpy as jnp

import sonde.debug


def loss(w, x, mask, target):
    weights = jax.nn.softmax(x @ w @ x.T + mask, -1)
    p = (weights @ x).clip(0.0, 1.0).mean(0)
    return -(target * jnp.log(p)).sum()  # FAULT: log


step = sonde.debug.checked(jax.jit(jax.value_and_grad(loss)), logdir=sys.argv[1])
mask = jnp.where(jnp.tril(jnp.ones((5, 5), bool)), 0.0, -jnp.inf)
w, target = jnp.eye(3), jnp.array([0.2, 0.3, 0.5])
for i in range(4):
    x = jnp.abs(jax.random.normal(jax.random.PRNGKey(i), (5, 3)))
    _, g = step(w, x if i < 3 else x.at[:, 1].set(-1.0), mask, target)
    w = w - 0.01 * g
