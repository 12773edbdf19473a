"""Flax: a variance as the mean of squares minus the square of the mean, below zero by rounding."""
import sys

import jax
import jax.numpy as jnp
from flax import nnx

import sonde.debug


class Norm(nnx.Module):
    def __call__(self, x):
        mean = x.mean(-1, keepdims=True)
        variance = (x * x).mean(-1, keepdims=True) - mean * mean
        return (x - mean) / jnp.sqrt(variance)  # FAULT: sqrt|div


class Net(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(4, 8, rngs=rngs)
        self.norm = Norm()
        self.last = nnx.Linear(8, 1, rngs=rngs)

    def __call__(self, x):
        return self.last(self.norm(self.first(x)))


graph, state = nnx.split(Net(nnx.Rngs(0)))


@jax.jit
def train(state, x):
    def loss(state):
        return (nnx.merge(graph, state)(x) ** 2).mean()

    value, grads = jax.value_and_grad(loss)(state)
    return value, jax.tree.map(lambda p, g: p - 0.01 * g, state, grads)


train = sonde.debug.checked(train, logdir=sys.argv[1])
for i in range(4):
    x = jax.random.normal(jax.random.PRNGKey(i), (5, 4))
    if i == 3:
        x = x.at[1].set(0.0)  # with biases of zero the row is constant
        state = jax.tree.map(lambda p: p * 1.0, state)
        state["first"]["bias"].value = jnp.full((8,), 0.0)
    _, state = train(state, x)
