"""Captures of programs that really run: a JAX loop with its profiler server, a PyTorch loop that watches its folder."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build/release/sonde"))

JAX = """
import socket, sys
import jax, jax.numpy as jnp
with socket.create_server(("localhost", 0)) as taken:
    port = taken.getsockname()[1]
jax.profiler.start_server(port)
step = jax.jit(lambda x: jnp.tanh(x @ x).sum())
x = jnp.ones((200, 200))
step(x).block_until_ready()
print(port, flush=True)
n = 0
while True:
    with jax.profiler.StepTraceAnnotation("train", step_num=n):
        step(x).block_until_ready()
    n += 1
"""

TORCH = """
import sys, signal
import torch, sonde.profile
model = torch.nn.Linear(64, 64)
profiler = sonde.profile.watch(sys.argv[1], on_signal=signal.SIGUSR2)
print("ready", flush=True)
while True:
    model(torch.randn(32, 64)).sum().backward()
    profiler.step()
"""


@pytest.fixture
def program():
    started = []

    def start(code, *args):
        process = subprocess.Popen([sys.executable, "-c", code, *args], stdout=subprocess.PIPE, text=True, env=os.environ | {"JAX_PLATFORMS": "cpu"})
        started.append(process)
        return process, process.stdout.readline().strip()

    yield start
    for process in started:
        process.kill()
        process.wait()


def program_says(*args):
    done = subprocess.run([SONDE, *args], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_jax(tmp_path, program):
    pytest.importorskip("jax")
    _, port = program(JAX)
    folder = Path(program_says("capture", "--service", f"localhost:{port}", "--logdir", str(tmp_path), "--duration_ms", "500").strip())
    file, = folder.iterdir()
    assert file.name == f"localhost_{port}.xplane.pb"
    report = json.loads(program_says("profile", str(tmp_path), "--json"))
    steps = next(f["value"] for f in report["figures"] if f["label"] == "Steps")
    assert steps > 3
    # Python functions are in a second capture, which the same server gives.
    program_says("capture", "--service", f"localhost:{port}", "--logdir", str(tmp_path), "--duration_ms", "200", "--python_tracer_level", "1")
    assert len(list((tmp_path / "plugins/profile").iterdir())) == 2


def test_torch(tmp_path, program):
    pytest.importorskip("torch")
    process, _ = program(TORCH, str(tmp_path))
    import sonde.profile

    def captures(count):
        while len(found := sorted(tmp_path.glob("*.pt.trace.json.gz"))) < count:
            assert process.poll() is None
        return found

    sonde.profile.request(tmp_path, steps=3)
    captures(1)
    process.send_signal(signal.SIGUSR2)
    for file in captures(2):
        assert "aten::addmm" in program_says("timeline", "stats", str(file))
