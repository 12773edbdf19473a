"""The log of a probability that underflows to zero."""
import sys

import jax
import jax.numpy as jnp

import sonde.debug


def loss_of(w, x, y):
    p = jax.nn.softmax(x @ w)
    return -(y * jnp.log(p)).mean()  # FAULT: log


@jax.jit
def train_step(w, x, y):
    loss, grad = jax.value_and_grad(loss_of)(w, x, y)
    return w - 0.1 * grad, loss


step = sonde.debug.checked(train_step, logdir=sys.argv[1])
key = jax.random.PRNGKey(0)
w = jax.random.normal(key, (8, 4))
y = jnp.ones((5, 4)) / 4
for i in range(6):
    x = jax.random.normal(jax.random.fold_in(key, i), (5, 8)) * (500.0 if i == 4 else 1.0)
    w, loss = step(w, x, y)
