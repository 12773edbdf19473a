"""What logging costs: Sonde's writers beside torch's, tensorboardX's and TensorFlow's, alternating in one run.

    python bench/writers.py            the table of docs/bench.md, section Writers, in the terminal
    python bench/writers.py --quick    fewer calls; --rounds N sets how often each contender runs

A rival that is not installed is left out. CPU is the process's own, all threads, per call; medians of five rounds.
Each contender runs in a process of its own (`--one NAME`). PYTHONPATH must hold the built package; for TensorFlow
and torch in different environments give their interpreters in SONDE_PYTHON_TORCH and SONDE_PYTHON_TF.
"""

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

QUICK = "--quick" in sys.argv


def cpu():
    use = resource.getrusage(resource.RUSAGE_SELF)
    return use.ru_utime + use.ru_stime


def per_call(count, call, finish):
    """CPU seconds of one call, the loop around it included, writing to disk included."""
    call(0)
    finish()
    start = cpu()
    for step in range(count):
        call(step)
    finish()
    return (cpu() - start) / count


def writer_of(name, folder):
    if name.startswith("sonde"):
        import sonde

        return sonde.SummaryWriter(folder)
    if name.startswith("torch"):
        import torch
        from torch.utils.tensorboard import SummaryWriter

        torch.set_num_threads(1)
        return SummaryWriter(folder)
    from tensorboardX import SummaryWriter

    return SummaryWriter(folder)


def measure(name, folder):
    import numpy as np

    rng = np.random.RandomState(1)
    out = {}
    data = rng.randn(1_000_000 if QUICK else 10_000_000).astype(np.float32)
    noise = rng.randint(0, 255, (256, 256, 3)).astype(np.uint8)
    smooth = np.add.outer(np.arange(256), np.arange(256))[:, :, None].repeat(3, 2).astype(np.uint8) // 2
    if name in ("tensorflow", "sonde.summary"):
        if name == "tensorflow":
            import tensorflow

            summary = tensorflow.summary
        else:
            import sonde.summary as summary
        writer = summary.create_file_writer(folder)
        writer.set_as_default()
        out["scalar"] = per_call(
            2000 if name == "tensorflow" else 50_000, lambda i: summary.scalar("loss", 0.5, step=i), writer.flush
        )
        out["histogram"] = per_call(3, lambda i: summary.histogram("h", data, step=i), writer.flush)
        out["image noise"] = per_call(20, lambda i: summary.image("i", noise[None], step=i), writer.flush)
        out["image smooth"] = per_call(20, lambda i: summary.image("i", smooth[None], step=i), writer.flush)
        return out
    writer = writer_of(name, folder)
    count = 200_000 if name == "sonde" else 10_000
    out["scalar"] = per_call(count, lambda i: writer.add_scalar("train/loss", 0.5, i), writer.flush)
    if name == "sonde":
        native = writer._writer
        out["scalar, sonde.Writer"] = per_call(count, lambda i: native.scalar("train/loss", 0.1, i), writer.flush)
    out["scalars of 3"] = per_call(
        2000, lambda i: writer.add_scalars("x", {"a": 1.0, "b": 2.0, "c": 3.0}, i), writer.flush
    )
    out["histogram"] = per_call(3, lambda i: writer.add_histogram("h", data, i), writer.flush)
    out["image noise"] = per_call(20, lambda i: writer.add_image("i", noise, i, dataformats="HWC"), writer.flush)
    out["image smooth"] = per_call(20, lambda i: writer.add_image("i", smooth, i, dataformats="HWC"), writer.flush)
    writer.close()
    return out


def training_slowdown(folder):
    """A loop of matrix products with five scalars a step and a histogram every 100, against the same loop without."""
    import numpy as np

    import sonde

    rng = np.random.RandomState(1)
    a, b = rng.rand(256, 256).astype(np.float32), rng.rand(256, 256).astype(np.float32)
    writer = sonde.SummaryWriter(folder)

    def loop(logging, steps=400):
        start = cpu()
        for step in range(steps):
            for _ in range(4):
                c = a @ b
            if logging:
                for tag in ("loss", "accuracy", "rate", "norm", "time"):
                    writer.add_scalar(tag, 0.5, step)
                if step % 100 == 0:
                    writer.add_histogram("weights", c, step)
        if logging:
            writer.flush()
        return cpu() - start

    loop(False)
    rounds = [(loop(False), loop(True)) for _ in range(7)]
    return statistics.median(b for _, b in rounds) / statistics.median(a for a, _ in rounds) - 1


def main():
    if "--one" in sys.argv:
        name = sys.argv[sys.argv.index("--one") + 1]
        folder = tempfile.mkdtemp(prefix="sonde_bench_")
        try:
            print(json.dumps(training_slowdown(folder) if name == "slowdown" else measure(name, folder)))
        finally:
            shutil.rmtree(folder)
        return
    interpreters = {
        "torch": os.environ.get("SONDE_PYTHON_TORCH", sys.executable),
        "tensorflow": os.environ.get("SONDE_PYTHON_TF", sys.executable),
    }
    interpreters["tensorboardX"] = interpreters["torch"]
    results = {}
    extra = ["--quick"] if QUICK else []
    rounds = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 2 if QUICK else 5
    for round_number in range(rounds):
        for name in ("sonde", "torch", "tensorboardX", "sonde.summary", "tensorflow"):
            environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
            run = subprocess.run(
                [interpreters.get(name, sys.executable), __file__, "--one", name, *extra],
                env=environment,
                capture_output=True,
                text=True,
            )
            if run.returncode != 0:
                if round_number == 0:
                    print(
                        f"{name} left out: {run.stderr.strip().splitlines()[-1] if run.stderr else run.returncode}",
                        file=sys.stderr,
                    )
                continue
            for what, seconds in json.loads(run.stdout.splitlines()[-1]).items():
                results.setdefault(what, {}).setdefault(name, []).append(seconds)
                print(f"round {round_number} {name} {what}: {seconds * 1e6:.2f} us", file=sys.stderr, flush=True)
    print(
        f"{'CPU a call':22}"
        + "".join(f"{n:>16}" for n in ("sonde", "torch", "tensorboardX", "sonde.summary", "tensorflow"))
    )
    for what, by_name in results.items():
        cells = [
            statistics.median(by_name[n]) * 1e6 if n in by_name else None
            for n in ("sonde", "torch", "tensorboardX", "sonde.summary", "tensorflow")
        ]
        print(f"{what:22}" + "".join(f"{c:13.2f} us" if c is not None else f"{'-':>16}" for c in cells))
    run = subprocess.run(
        [sys.executable, __file__, "--one", "slowdown"],
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    if run.returncode == 0:
        print(
            f"training loop with 5 scalars a step and a histogram every 100 steps: {float(run.stdout) * 100:+.2f} % CPU"
        )


if __name__ == "__main__":
    start = time.monotonic()
    main()
