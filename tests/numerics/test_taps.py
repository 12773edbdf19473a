"""sonde.debug.tap for JAX."""

import json
import subprocess

from numerics_server import PROGRAM


def test_taps_in_jax(tmp_path):
    import jax
    import jax.numpy as jnp

    import sonde.debug

    @jax.jit
    def loss(x):
        hidden = sonde.debug.tap(x * 2, "hidden")
        return sonde.debug.tap(jnp.sqrt(hidden), "root").sum()

    sonde.debug.record(tmp_path)
    jax.grad(loss)(jnp.array([4.0, 0.0]))
    sonde.debug.stop()
    asked = subprocess.run([PROGRAM, "numerics", "--json", str(tmp_path)], capture_output=True, text=True)
    answer = json.loads(asked.stdout)
    assert asked.returncode == 3, answer
    assert answer["op"] == "hidden/grad" and answer["path"].endswith("test_taps.py")
