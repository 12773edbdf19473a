"""What logging costs: Sonde's writers beside torch's, tensorboardX's and TensorFlow's, alternating in one run.

    python bench/writers.py                       everything, the tables of docs/bench.md (section Writers) on stdout
    python bench/writers.py --only training       one part: imports, calls, training or throughput
    python bench/writers.py --quick               small sizes and two rounds, to see that it works

Parts: `calls` is the CPU of the process, all threads, a call; each contender runs in a process of its own. `training` is a
NumPy training loop (a step takes about 4 ms) that logs 100 scalars a step and a histogram of a weight matrix every 50
steps, alternating with the same loop without logging: CPU and wall time. `throughput` is bench/writer_throughput.cc, 50 M scalars
from C++ to a local file, beside what `dd` writes to that disk. Everything is a median of the rounds.

The package is found through PYTHONPATH (build/python/python after tests/writers/run.py). A rival that is not installed is left
out; interpreters that have torch and tensorboardX, or TensorFlow, are named by SONDE_PYTHON_TORCH and SONDE_PYTHON_TF.
"""

import argparse
import itertools
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONTENDERS = ["sonde", "torch", "tensorboardX", "sonde.summary", "tensorflow"]


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


def torch_like(name, folder):
    if name == "sonde":
        import sonde

        return sonde.SummaryWriter(folder)
    if name == "torch":
        import torch
        from torch.utils.tensorboard import SummaryWriter

        torch.set_num_threads(1)
        return SummaryWriter(folder)
    from tensorboardX import SummaryWriter

    return SummaryWriter(folder)


def calls_of_tf(name, folder, data, pictures):
    if name == "tensorflow":
        import tensorflow

        summary = tensorflow.summary
    else:
        from sonde import summary
    writer = summary.create_file_writer(folder)
    writer.set_as_default()
    count = 2000 if name == "tensorflow" else 50_000
    yield "scalar", per_call(count, lambda i: summary.scalar("loss", 0.5, step=i), writer.flush)
    yield "histogram", per_call(3, lambda i: summary.histogram("h", data, step=i), writer.flush)
    for kind, picture in pictures.items():
        yield f"image {kind}", per_call(20, lambda i, p=picture[None]: summary.image("i", p, step=i), writer.flush)


def calls_of_torch(name, folder, data, pictures):
    writer = torch_like(name, folder)
    count = 200_000 if name == "sonde" else 10_000
    yield "scalar", per_call(count, lambda i: writer.add_scalar("train/loss", 0.5, i), writer.flush)
    if name == "sonde":
        native, many = writer._writer, {f"layer{i}/norm": i / 7 for i in range(100)}
        yield "scalar, sonde.Writer", per_call(count, lambda i: native.scalar("train/loss", 0.1, i), writer.flush)
        yield "scalars of 100, sonde.Writer", per_call(count // 50, lambda i: native.scalars(many, i), writer.flush)
    three = {"a": 1.0, "b": 2.0, "c": 3.0}
    yield "scalars of 3", per_call(2000, lambda i: writer.add_scalars("x", three, i), writer.flush)
    yield "histogram", per_call(3, lambda i: writer.add_histogram("h", data, i), writer.flush)
    for kind, picture in pictures.items():
        yield (
            f"image {kind}",
            per_call(20, lambda i, p=picture: writer.add_image("i", p, i, dataformats="HWC"), writer.flush),
        )
    writer.close()


def one_calls(name, folder, quick):
    import numpy as np

    rng = np.random.RandomState(1)
    data = rng.randn(1_000_000 if quick else 10_000_000).astype(np.float32)
    pictures = {
        "noise": rng.randint(0, 255, (256, 256, 3)).astype(np.uint8),
        "smooth": np.add.outer(np.arange(256), np.arange(256))[:, :, None].repeat(3, 2).astype(np.uint8) // 2,
    }
    measure = calls_of_tf if name in ("tensorflow", "sonde.summary") else calls_of_torch
    return dict(measure(name, folder, data, pictures))


def one_training(name, folder, quick):
    """CPU and wall seconds of a step without and with logging, each the median of the rounds."""
    import numpy as np

    rng = np.random.RandomState(1)
    layers = [rng.randn(256, 256).astype(np.float32) * 0.05 for _ in range(3)]
    batch = rng.randn(192, 256).astype(np.float32)
    writer = torch_like(name, folder)
    logged = itertools.count()
    tags = [f"layer{i // 10}/metric{i % 10}" for i in range(100)]

    def step_of_training():
        """Forward and backward through three layers, then a step downhill."""
        inputs = [batch]
        for weights in layers:
            inputs.append(np.tanh(inputs[-1] @ weights))
        gradient = (inputs[-1] - batch) / batch.size
        for i in reversed(range(len(layers))):
            gradient = gradient * (1 - inputs[i + 1] ** 2)
            change = inputs[i].T @ gradient
            gradient = gradient @ layers[i].T
            layers[i] -= change
        return float(np.abs(gradient).sum())

    def loop(steps, logging):
        wall, used = time.perf_counter(), cpu()
        for _ in range(steps):
            loss = step_of_training()
            if logging:
                step = next(logged)
                for tag in tags:
                    writer.add_scalar(tag, loss, step)
                if step % 50 == 0:
                    writer.add_histogram("weights", layers[0], step)
        if logging:
            writer.flush()
        return (cpu() - used) / steps, (time.perf_counter() - wall) / steps

    # With and without take turns in blocks of 25 steps (100 ms), so that a drift of the machine's speed falls on both.
    loop(25, True)
    rounds = []
    for _ in range(3 if quick else 9):
        total = {False: [0.0, 0.0], True: [0.0, 0.0]}
        for block in range(4 if quick else 24):
            logging = (block + block // 2) % 2 == 0
            total[logging] = [sum(pair) for pair in zip(total[logging], loop(25, logging), strict=True)]
        blocks = 2 if quick else 12
        rounds.append([seconds / blocks for seconds in total[False] + total[True]])
    without_cpu, without_wall, with_cpu, with_wall = (statistics.median(column) for column in zip(*rounds))
    return {"cpu": [without_cpu, with_cpu], "wall": [without_wall, with_wall]}


def in_process(part, name, quick):
    """Runs one contender in a process of its own; None when it is not installed."""
    interpreter = {
        "torch": os.environ.get("SONDE_PYTHON_TORCH", sys.executable),
        "tensorboardX": os.environ.get("SONDE_PYTHON_TORCH", sys.executable),
        "tensorflow": os.environ.get("SONDE_PYTHON_TF", sys.executable),
    }.get(name, sys.executable)
    environment = os.environ | {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "CUDA_VISIBLE_DEVICES": "",
    }
    command = [interpreter, __file__, "--one", part, name] + (["--quick"] if quick else [])
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        why = run.stderr.strip().splitlines()[-1] if run.stderr.strip() else f"exit code {run.returncode}"
        print(f"{part}: {name} left out: {why}", file=sys.stderr)
        return None
    return json.loads(run.stdout.splitlines()[-1])


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def microseconds(seconds):
    return f"{seconds * 1e6:.3g} µs" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def calls(rounds, quick):
    results, missing = {}, set()
    for _ in range(rounds):
        for name in CONTENDERS:
            measured = None if name in missing else in_process("calls", name, quick)
            if measured is None:
                missing.add(name)
                continue
            for what, seconds in measured.items():
                results.setdefault(what, {}).setdefault(name, []).append(seconds)
    medians = {what: {n: statistics.median(v) for n, v in by.items()} for what, by in results.items()}
    rows = []
    for what, by in medians.items():
        for ours, rivals in (("sonde", ("torch", "tensorboardX")), ("sonde.summary", ("tensorflow",))):
            present = [rival for rival in rivals if rival in by]
            for rival in present if ours in by else []:
                ratio = f"{by[rival] / by[ours]:.1f}x"
                rows.append([what, rival, microseconds(by[rival]), microseconds(by[ours]), ratio])
            if ours in by and not present:
                rows.append([what, "", "", microseconds(by[ours]), ""])
    print(f"CPU a call, medians of {rounds} rounds\n")
    table(["call", "rival", "rival's", "Sonde's", "ratio"], rows)


def training(_, quick):
    rows = []
    for name in ("sonde", "torch", "tensorboardX"):
        measured = in_process("training", name, quick)
        if measured is not None:
            cells = [f"{microseconds(a)} → {microseconds(b)}, {(b / a - 1) * 100:+.2f} %" for a, b in measured.values()]
            rows.append([name, *cells])
    print("A training step without → with 100 scalars a step and a histogram of 65,536 floats every 50 steps\n")
    table(["writer", "CPU", "wall"], rows)


def throughput(rounds, quick):
    library = ROOT / "build" / "release"
    if not (library / "libsonde.so").exists():
        print("throughput left out: build/release has no libsonde.so", file=sys.stderr)
        return
    count = 2_000_000 if quick else 50_000_000
    with tempfile.TemporaryDirectory(prefix="sonde_bench_", dir=os.environ.get("SONDE_BENCH_DIR")) as folder:
        program = Path(folder) / "writer_throughput"
        source = ROOT / "bench" / "writer_throughput.cc"
        build = ["c++", "-O2", "-std=c++20", "-pthread", f"-I{ROOT / 'include'}", source, f"-L{library}", "-lsonde"]
        subprocess.run([*build, f"-Wl,-rpath,{library}", "-o", program], check=True)
        rates = {"1": [], "2": [], "dd": []}
        for _ in range(rounds):
            for threads in ("1", "2"):
                run = subprocess.run(
                    [program, f"{folder}/logs", str(count), threads], check=True, capture_output=True, text=True
                )
                rate, used, size = map(float, run.stdout.splitlines()[-1].split())
                rates[threads].append((rate, used))
                shutil.rmtree(f"{folder}/logs")
            start = time.monotonic()
            block = f"bs=1M count={max(1, int(size) >> 20)}".split()
            subprocess.run(["dd", "if=/dev/zero", f"of={folder}/zeros", *block], check=True, stderr=subprocess.DEVNULL)
            rates["dd"].append(size / (time.monotonic() - start))
            os.unlink(f"{folder}/zeros")
    rows = []
    for threads in ("1", "2"):
        rate, used = (statistics.median(column) for column in zip(*rates[threads]))
        rows.append([f"{threads} thread{'s' if threads == '2' else ''}", f"{rate / 1e6:.2f} M/s", microseconds(used)])
    disk = statistics.median(rates["dd"])
    print(
        f"C++, {count / 1e6:.0f} M scalars of {size / count:.0f} bytes to a local file, written out before the clock stops"
    )
    print(f"(dd of as many zeros: {disk / 1e6:.0f} MB/s = {disk / size * count / 1e6:.1f} M such records/s)\n")
    table(["callers", "scalars a second, wall", "CPU a scalar, all threads"], rows)


def imports(rounds, _):
    """Milliseconds from a started interpreter to a usable SummaryWriter class."""
    code = "import time; start = time.perf_counter(); import sonde; {}; print((time.perf_counter() - start) * 1e3)"
    names = {"import sonde": "pass", "import sonde; sonde.SummaryWriter": "sonde.SummaryWriter"}
    times = {name: [] for name in names}
    for _ in range(4 * rounds):
        for name, then in names.items():
            run = subprocess.run([sys.executable, "-c", code.format(then)], check=True, capture_output=True, text=True)
            times[name].append(float(run.stdout))
    print(f"Import, medians of {4 * rounds}\n")
    table(["statement", "time"], [[f"`{name}`", f"{statistics.median(t):.1f} ms"] for name, t in times.items()])


PARTS = {"imports": imports, "calls": calls, "training": training, "throughput": throughput}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=PARTS, help="run one part")
    parser.add_argument("--rounds", type=int, help="how often each contender runs (5; with --quick 2)")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--one", nargs=2, metavar=("PART", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        part, name = options.one
        with tempfile.TemporaryDirectory(prefix="sonde_bench_", dir=os.environ.get("SONDE_BENCH_DIR")) as folder:
            print(json.dumps({"calls": one_calls, "training": one_training}[part](name, folder, options.quick)))
        return
    for name, run in PARTS.items():
        if options.only in (None, name):
            run(options.rounds or (2 if options.quick else 5), options.quick)


if __name__ == "__main__":
    main()
