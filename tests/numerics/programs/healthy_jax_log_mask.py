"""Log of what may be zero, made safe on both sides, under grad and scan."""
import sys

import jax
import jax.numpy as jnp

import sonde.debug


def entropy(p):
    safe = jnp.where(p > 0, p, 1.0)
    return -jnp.where(p > 0, p * jnp.log(safe), 0.0).sum()


def body(carry, x):
    logits = jnp.where(x > 0, x + carry, -jnp.inf)
    p = jax.nn.softmax(logits)
    return carry * 0.9, entropy(p)


@jax.jit
def loss(c, xs):
    return jax.value_and_grad(lambda c: jax.lax.scan(body, c, xs)[1].mean())(c)


step = sonde.debug.checked(loss, logdir=sys.argv[1], every=1)
c = jnp.float32(0.5)
for i in range(5):
    xs = jnp.abs(jax.random.normal(jax.random.PRNGKey(i), (4, 6))).at[:, 3].set(-1.0)
    value, g = step(c, xs)
    c = c - 0.1 * g
