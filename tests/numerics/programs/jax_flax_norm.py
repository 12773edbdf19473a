"""A Flax module divides by a standard deviation of zero; the optimizer is optax."""
import sys

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

import sonde.debug


class Scaled(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(8)(x)
        spread = x.std(axis=0)
        return nn.Dense(1)((x - x.mean(axis=0)) / spread)  # FAULT: div


model = Scaled()
params = model.init(jax.random.PRNGKey(0), jnp.ones((4, 3)))
optimizer = optax.adam(1e-3)
state = optimizer.init(params)


@jax.jit
def train_step(params, state, x, y):
    loss, grads = jax.value_and_grad(lambda p: ((model.apply(p, x) - y) ** 2).mean())(params)
    changes, state = optimizer.update(grads, state)
    return optax.apply_updates(params, changes), state, loss


step = sonde.debug.checked(train_step, logdir=sys.argv[1])
for i in range(6):
    x = jax.random.normal(jax.random.PRNGKey(i), (4, 3))
    if i == 4:
        x = jnp.ones((4, 3))
    params, state, loss = step(params, state, x, x[:, :1])
