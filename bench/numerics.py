#!/usr/bin/env python3
"""What watching the numerics of a training program costs, beside what the frameworks offer.

    PYTHONPATH=build/python/python python bench/numerics.py [--rounds 9]

A PyTorch model of 100 linear layers on the CPU: plain, with sonde.debug.watch every 100 steps and every step, with
torch's detect_anomaly. A JAX step: plain, sonde.debug.checked, jax_debug_nans. The variants take turns in blocks of 100
steps, so that each block of every=100 holds one recorded step; a variant is set beside the plain block of its own round,
and the median round counts, so that a busy machine hits all of them. Processor time of the process, all threads.
"""

import argparse
import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# bench/profile.py would be taken for the standard library's module.
sys.path[:] = [path for path in sys.path if Path(path).resolve() != Path(__file__).resolve().parent]
BLOCK = 100


def in_turns(variants, rounds):
    """{name: processor seconds a step of each round}."""
    times = {name: [] for name in variants}
    for turn in range(rounds):
        names = list(variants)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            began = time.process_time()
            for _ in range(BLOCK):
                variants[name]()
            times[name].append((time.process_time() - began) / BLOCK)
    return times


def torch_variants(folder):
    import torch

    import sonde.debug

    torch.set_num_threads(1)

    def made(every):
        torch.manual_seed(0)
        layers = []
        for _ in range(50):
            layers += [torch.nn.Linear(256, 256), torch.nn.Tanh()]
        model = torch.nn.Sequential(*layers)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
        watch = every and sonde.debug.watch(model, optimizer, logdir=f"{folder}/{every}", every=every)
        x = torch.randn(64, 256)

        def step():
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss

        return (lambda: watch.step(step)) if watch else step

    plain = made(0)

    def anomaly():
        with torch.autograd.detect_anomaly():
            plain()

    return {"plain": plain, "watch every=100": made(100), "watch every=1": made(1), "detect_anomaly": anomaly}


def jax_variants(folder):
    import jax
    import jax.numpy as jnp

    import sonde.debug

    weights = [jax.random.normal(jax.random.PRNGKey(i), (256, 256)) / 16 for i in range(50)]
    x = jnp.ones((64, 256))

    def loss(ws):
        y = x
        for w in ws:
            y = jnp.tanh(y @ w)
        return (y * y).mean()

    step = jax.jit(jax.value_and_grad(loss))
    checked = sonde.debug.checked(step, logdir=f"{folder}/jax")
    checked100 = sonde.debug.checked(step, logdir=f"{folder}/jax100", every=100)

    def nans():
        with jax.debug_nans(True):
            jax.block_until_ready(step(weights))

    return {
        "plain": lambda: jax.block_until_ready(step(weights)),
        "checked every=100": lambda: jax.block_until_ready(checked100(weights)),
        "checked every=1": lambda: jax.block_until_ready(checked(weights)),
        "jax_debug_nans": nans,
    }


def tensorflow_variants(folder, dumped):
    import tensorflow as tf

    if dumped:
        tf.debugging.experimental.enable_dump_debug_info(f"{folder}/tf", tensor_debug_mode="FULL_HEALTH", circular_buffer_size=-1)
    weights = [tf.Variable(tf.random.stateless_normal((256, 256), (i, 0)) / 16) for i in range(50)]
    x = tf.ones((64, 256))

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            y = x
            for w in weights:
                y = tf.tanh(y @ w)
            loss = tf.reduce_mean(y * y)
        return tape.gradient(loss, weights)

    step()
    return {"dump FULL_HEALTH" if dumped else "plain": step}


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--only", choices=["torch", "jax", "tf", "tf-dump"])
    options = arguments.parse_args()
    if options.only is None:  # frameworks do not share a process well
        for name in ("torch", "jax", "tf", "tf-dump"):
            subprocess.run([sys.executable, __file__, "--rounds", str(options.rounds), "--only", name], check=False)
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(None):
        made = {
            "torch": torch_variants,
            "jax": jax_variants,
            "tf": lambda f: tensorflow_variants(f, False),
            "tf-dump": lambda f: tensorflow_variants(f, True),
        }[options.only](folder)
        for run in made.values():
            run()
        found = in_turns(made, options.rounds)
    plain = found.get("plain")
    for name, seconds in found.items():
        more = ""
        if plain is not None and name != "plain":
            shares = sorted(100 * (own / base - 1) for own, base in zip(seconds, plain, strict=True))
            more = f"  {statistics.median(shares):+6.1f} %  ({shares[0]:+.1f} to {shares[-1]:+.1f})"
        print(f"{options.only:8} {name:20} {1000 * statistics.median(seconds):8.2f} ms{more}", flush=True)


if __name__ == "__main__":
    main()
