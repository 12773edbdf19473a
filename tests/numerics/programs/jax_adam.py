"""Adam by hand without eps: a parameter that gets no gradient is 0/0."""
import sys

import jax
import jax.numpy as jnp

import sonde.debug


def loss(params, x):
    hidden = jax.nn.relu(x @ params["a"])
    return jnp.mean((hidden @ params["b"] - 1) ** 2)


def update(p, g, m, v):
    m = 0.9 * m + 0.1 * g
    v = 0.99 * v + 0.01 * g * g
    return p - 1e-3 * m / jnp.sqrt(v), m, v  # FAULT: div


@jax.jit
def train(params, m, v, x):
    grads = jax.grad(loss)(params, x)
    out = {k: update(params[k], grads[k], m[k], v[k]) for k in params}
    return tuple({k: out[k][i] for k in out} for i in range(3))


keys = jax.random.split(jax.random.PRNGKey(0), 3)
params = {"a": jax.random.normal(keys[0], (4, 5)).at[:, 2].set(-9.0), "b": jax.random.normal(keys[1], (5, 1))}
m = jax.tree.map(jnp.zeros_like, params)
v = jax.tree.map(jnp.zeros_like, params)
train = sonde.debug.checked(train, logdir=sys.argv[1])
x = jnp.abs(jax.random.normal(keys[2], (8, 4)))
for _ in range(3):
    params, m, v = train(params, m, v, x)
