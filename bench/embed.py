#!/usr/bin/env python3
"""Projections beside NumPy, scikit-learn, openTSNE, umap-learn and TensorBoard's own page.

    bench/embed.py                            quality at 1 000 points, the speed race at full size
    bench/embed.py --small                    all parts at sizes that end in two minutes: is the bench in order?
    bench/embed.py --only quality             PCA against NumPy's SVD; t-SNE, UMAP by trustworthiness and recall
    bench/embed.py --only speed               t-SNE 10 000 x 200, 1000 iterations; UMAP 5 000 x 200; all contestants
    bench/embed.py --only browser --tensorboard VENV/bin/tensorboard    TensorBoard's page in headless Chromium
    bench/embed.py --only large               60 000 x 784 through the server: progress, positions, cancel
    bench/embed.py --record tests/data/embed  writes the points and reference figures that the unit tests read

The script makes a venv of its own (--venv, default: build/embed_venv) with numpy, scikit-learn, openTSNE and umap-learn
from the package index. Sonde's side is build/release/sonde_project (cmake --preset release -DSONDE_BENCH=ON) and, for
`large`, build/release/sonde. Contestants alternate, a figure is the median of --rounds. The data are seeded mixtures
of curved sheets, so that neighbours mean something; --data FILE.npy takes others.
TensorBoard's t-SNE page never ends by itself; it is stopped at the same number of iterations, or at --cap seconds and
then extrapolated linearly from the iterations it did, which the table says.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ["numpy", "scikit-learn", "openTSNE", "umap-learn"]


def ensure_venv(folder):
    """Runs this script again inside the venv, made on first use."""
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"making {folder} with {', '.join(PACKAGES)}", file=sys.stderr)
        venv.create(folder, with_pip=True)
    ready = subprocess.run([python, "-c", "import numpy, sklearn, openTSNE, umap"], stderr=subprocess.DEVNULL)
    if ready.returncode:
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    if Path(sys.prefix).resolve() != folder.resolve():
        os.execv(python, [str(python), *sys.argv])


def sheets(rows, dims, seed=1):
    """Twelve curved two-dimensional sheets in a space of `dims`, with noise; labels = sheet."""
    import numpy as np

    random = np.random.default_rng(seed)
    label = random.integers(0, 12, rows)
    out = np.empty((rows, dims), np.float32)
    for k in range(12):
        mine = np.flatnonzero(label == k)
        u = random.uniform(-1, 1, (len(mine), 2))
        curved = np.column_stack([u, u[:, :1] ** 2, u[:, 1:] ** 2, u[:, :1] * u[:, 1:], np.sin(3 * u)])
        basis = random.normal(size=(curved.shape[1], dims))
        out[mine] = curved @ basis + random.normal(size=dims) * 1.5
    out += random.normal(size=out.shape).astype(np.float32) * 0.1
    return out, label


def project(arguments, data, kind, dims=2, **options):
    """Sonde's projection of `data`: positions and seconds."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in", Path(folder) / "out"
        data.astype("<f4").tofile(source)
        words = [f"{k}={v}" for k, v in {"dims": dims, **options}.items()]
        run = subprocess.run([arguments.project, kind, str(data.shape[0]), str(data.shape[1]), source, target, *words],
                             check=True, capture_output=True, text=True)
        positions = np.fromfile(target, "<f4").reshape(data.shape[0], -1)
    return positions, float(run.stdout.split()[1])


def timed(make):
    start = time.perf_counter()
    result = make()
    return result, time.perf_counter() - start


def open_tsne(data, iterations, perplexity=30):
    from openTSNE import TSNE

    early = min(250, iterations // 4)
    return timed(lambda: TSNE(perplexity=perplexity, metric="cosine", neighbors="auto", early_exaggeration_iter=early,
                              n_iter=iterations - early, n_jobs=os.cpu_count(), random_state=1).fit(data))


def learn_umap(data):
    import umap

    return timed(lambda: umap.UMAP(n_neighbors=15, min_dist=0.1, metric="cosine", random_state=1, n_jobs=1).fit_transform(data))


def quality(data, positions, k=15):
    """Trustworthiness (sklearn) and the share of the k true neighbours that are among the k nearest in the picture."""
    import numpy as np
    from sklearn.manifold import trustworthiness
    from sklearn.neighbors import NearestNeighbors

    true = NearestNeighbors(n_neighbors=k + 1, metric="cosine").fit(data).kneighbors(return_distance=False)[:, :k]
    seen = NearestNeighbors(n_neighbors=k + 1).fit(positions).kneighbors(return_distance=False)[:, :k]
    recall = np.mean([len(set(a) & set(b)) / k for a, b in zip(true, seen)])
    return trustworthiness(data, positions, n_neighbors=k, metric="cosine"), float(recall)


def compare_pca(arguments, data, components=3):
    """Largest difference from NumPy's SVD of the centred data, as a share of the largest coordinate; signs are free."""
    import numpy as np

    ours, seconds = project(arguments, data, "pca", components)
    centred = data.astype(np.float64) - data.mean(axis=0, dtype=np.float64)
    (u, s, _), svd_seconds = timed(lambda: np.linalg.svd(centred, full_matrices=False))
    theirs = (u * s)[:, :components]
    signs = np.sign((ours * theirs).sum(axis=0))
    return float(np.abs(ours * signs - theirs).max() / np.abs(theirs).max()), seconds, svd_seconds


def part_quality(arguments, rows):
    data, _ = sheets(rows, 50)
    difference, *_ = compare_pca(arguments, data)
    print(f"\nPCA of {rows} x 50 against numpy.linalg.svd, up to sign: largest difference {difference:.1e} of the largest coordinate\n")
    print(f"| {rows} x 50 | trustworthiness (k = 15) | recall of 15 neighbours |\n|---|---|---|")
    for name, positions in [
        ("Sonde t-SNE", project(arguments, data, "tsne", iterations=750)[0]),
        ("openTSNE", open_tsne(data, 750)[0]),
        ("Sonde UMAP", project(arguments, data, "umap")[0]),
        ("umap-learn", learn_umap(data)[0]),
    ]:
        trust, recall = quality(data, positions)
        print(f"| {name} | {trust:.3f} | {recall:.3f} |", flush=True)


def record(folder):
    """Points, NumPy's principal components of them, and how well openTSNE and umap-learn keep their neighbours."""
    import numpy as np

    data, _ = sheets(300, 20)
    folder.mkdir(parents=True, exist_ok=True)
    data.astype("<f4").tofile(folder / "points.f32")
    centred = data.astype(np.float64) - data.mean(axis=0, dtype=np.float64)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    (u * s)[:, :5].astype("<f4").tofile(folder / "pca.f32")
    figures = {"rows": 300, "dims": 20, "components": 5, "explained": list((s**2 / (s**2).sum())[:5])}
    for name, positions in [("tsne", open_tsne(data, 750)[0]), ("umap", learn_umap(data)[0])]:
        trust, recall = quality(data, np.asarray(positions))
        figures[name] = {"trustworthiness": round(trust, 4), "recall": round(recall, 4)}
    many, _ = sheets(500, 50)  # sheets that hardly touch: a descent that bursts them shows here
    many.astype("<f4").tofile(folder / "sheets.f32")
    trust, recall = quality(many, learn_umap(many)[0])
    figures["umap_sheets"] = {"rows": 500, "dims": 50, "trustworthiness": round(trust, 4), "recall": round(recall, 4)}
    (folder / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")


def part_speed(arguments, tsne_rows, umap_rows, iterations):
    import numpy as np

    big, small = sheets(tsne_rows, 200)[0], sheets(umap_rows, 200)[0]
    learn_umap(small[:200])  # numba compiles on first use; that is not counted
    rows = {}
    for _ in range(arguments.rounds):
        for name, run in [
            ("Sonde t-SNE 2-D", lambda: project(arguments, big, "tsne", iterations=iterations)),
            ("Sonde t-SNE 3-D", lambda: project(arguments, big, "tsne", 3, iterations=iterations)),
            ("openTSNE 2-D (all cores)", lambda: open_tsne(big, iterations)),
            ("Sonde UMAP", lambda: project(arguments, small, "umap")),
            ("umap-learn", lambda: learn_umap(small)),
        ]:
            positions, seconds = run()
            trust = quality(np.asarray(big if "t-SNE" in name or "TSNE" in name else small)[:3000], np.asarray(positions)[:3000])[0]
            rows.setdefault(name, []).append((seconds, trust))
    print(f"\n| t-SNE {tsne_rows} x 200, {iterations} iterations; UMAP {umap_rows} x 200 | seconds | trustworthiness (of 3000) |\n|---|---|---|")
    for name, found in rows.items():
        print(f"| {name} | {statistics.median(f[0] for f in found):.1f} | {found[-1][1]:.3f} |")
    return {name: statistics.median(f[0] for f in found) for name, found in rows.items()}


def write_logdir(folder, data):
    data.astype("<f4").tofile(folder / "vectors.bytes")
    shape = "".join(f"  tensor_shape: {size}\n" for size in data.shape)
    (folder / "projector_config.pbtxt").write_text(f'embeddings {{\n  tensor_name: "sheets"\n{shape}  tensor_path: "vectors.bytes"\n}}\n')


def wait_http(address, process, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"the server ended with {process.returncode}")
        try:
            return urllib.request.urlopen(address, timeout=5).read()
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise SystemExit("the server does not answer")


def part_browser(arguments, tsne_rows, umap_rows, iterations, ours):
    import socket

    print("\n| TensorBoard's page, headless Chromium | seconds | note | Sonde | ratio |\n|---|---|---|---|---|")
    for kind, rows in [("tsne", tsne_rows), ("umap", umap_rows)]:
        with tempfile.TemporaryDirectory() as name, socket.socket() as probe:
            folder = Path(name)
            write_logdir(folder, sheets(rows, 200)[0])
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
            probe.close()
            server = subprocess.Popen([arguments.tensorboard, "--logdir", name, "--port", str(port), "--host", "127.0.0.1"],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                address = f"http://127.0.0.1:{port}/"
                wait_http(address, server)
                run = subprocess.run(["node", ROOT / "bench/embed_browser.mjs", address, kind, str(iterations), str(arguments.cap)],
                                     capture_output=True, text=True)
            finally:
                server.terminate()
                server.wait()
        if run.returncode:
            print(f"| {kind} | – | failed: {run.stderr.strip().splitlines()[-1][:120] if run.stderr else 'no answer'} | | |")
            continue
        found = json.loads(run.stdout.strip().splitlines()[-1])
        seconds, note = found["seconds"], "ended"
        if kind == "tsne" and not found["ended"] and found["iterations"] > 0:
            note = f"{found['iterations']} iterations in {seconds} s, extrapolated to {iterations}"
            seconds = seconds * iterations / found["iterations"]
        elif not found["ended"]:
            note = f"not ended after {seconds} s"
        mine = ours.get("Sonde t-SNE 3-D" if kind == "tsne" else "Sonde UMAP")
        ratio = f"{seconds / mine:.1f}x" if mine else ""
        print(f"| {kind} {rows} x 200, 3-D | {seconds:.1f} | {note} | {f'{mine:.1f}' if mine else ''} | {ratio} |", flush=True)


def part_large(arguments, rows, dims, iterations):
    """Through the server: is there progress all the time, do positions come, how long does cancel take."""

    def ask(path, method="GET", body=None):
        request = urllib.request.Request(base + "api/v1/" + path, method=method, headers={"Sonde-Request": "1"},
                                         data=None if body is None else json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()

    with tempfile.TemporaryDirectory() as name:
        write_logdir(Path(name), sheets(rows, dims)[0])
        state = Path(name) / "state"
        server = subprocess.Popen([arguments.sonde, "--logdir", name, "--port", "0", "--host", "127.0.0.1"], stderr=subprocess.PIPE,
                                  text=True, env={**os.environ, "XDG_STATE_HOME": str(state), "XDG_CACHE_HOME": str(state)})
        try:
            for line in server.stderr:
                if " at http:" in line:
                    base = line.split(" at ")[1].split()[0]
                    break
            embedding = json.loads(ask("embeddings"))["embeddings"][0]["id"]
            for kind, params in [("umap", {"dims": 2}), ("tsne", {"dims": 2, "iterations": iterations})]:
                start = time.monotonic()
                job = json.loads(ask("jobs", "POST", {"kind": kind, "embedding": embedding, "params": params}))["job"]
                first, silent, last, seen = None, 0.0, start, None
                while True:
                    status = json.loads(ask(f"jobs/{job}"))
                    now = time.monotonic()
                    if (status["stage"], status["iteration"]) != seen:
                        silent, last, seen = max(silent, now - last), now, (status["stage"], status["iteration"])
                    if first is None and status["version"] > 0:
                        first = now - start
                    if status["state"] in ("done", "failed", "cancelled"):
                        break
                    time.sleep(0.1)
                total = time.monotonic() - start
                head = ask(f"jobs/{job}/positions")
                size = int.from_bytes(head[4:8], "little")
                facts = json.loads(head[8:8 + size])
                print(f"\n{kind} {rows} x {dims}: {total:.0f} s, first positions after {first:.1f} s, longest silence {silent:.1f} s, "
                      f"neighbours {'exact' if facts['exact'] else 'recall {:.3f}'.format(facts['recall'])}", flush=True)
            job = json.loads(ask("jobs", "POST", {"kind": "tsne", "embedding": embedding, "params": {"iterations": 90000, "seed": 9}}))["job"]
            while json.loads(ask(f"jobs/{job}"))["version"] == 0:
                time.sleep(0.2)
            start = time.monotonic()
            state = json.loads(ask(f"jobs/{job}", "DELETE"))["state"]
            print(f"cancel: {state} after {(time.monotonic() - start) * 1000:.0f} ms")
        finally:
            server.terminate()
            server.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["quality", "speed", "browser", "large"])
    parser.add_argument("--small", action="store_true", help="sizes for trying the script")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--cap", type=int, default=300, help="seconds the browser may take")
    parser.add_argument("--tensorboard", help="TensorBoard's command, for the race against its page")
    parser.add_argument("--project", default=str(ROOT / "build/release/sonde_project"))
    parser.add_argument("--sonde", default=str(ROOT / "build/release/sonde"))
    parser.add_argument("--venv", type=Path, default=ROOT / "build/embed_venv")
    parser.add_argument("--record", type=Path, help="write what src/embed/reference_test.cc compares with, and end")
    arguments = parser.parse_args()
    ensure_venv(arguments.venv)
    if arguments.record:
        return record(arguments.record)
    small = arguments.small
    wanted = {arguments.only} if arguments.only else {"quality", "speed", "browser", "large"}
    ours = {}
    if "quality" in wanted:
        part_quality(arguments, 500 if small else 1000)
    sizes = (600, 400, 200) if small else (10_000, 5_000, 1000)
    if "speed" in wanted:
        ours = part_speed(arguments, *sizes)
    if "browser" in wanted:
        if not arguments.tensorboard:
            print("\nTensorBoard's page is not raced: --tensorboard is missing")
        else:
            if not ours:  # only our own half of the race
                big, little = sheets(sizes[0], 200)[0], sheets(sizes[1], 200)[0]
                ours = {"Sonde t-SNE 3-D": project(arguments, big, "tsne", 3, iterations=sizes[2])[1],
                        "Sonde UMAP": project(arguments, little, "umap", 3)[1]}
            part_browser(arguments, *sizes, ours)
    if "large" in wanted:
        part_large(arguments, *((2000, 100, 200) if small else (60_000, 784, 1000)))


if __name__ == "__main__":
    main()
