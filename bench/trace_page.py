#!/usr/bin/env python3
"""The trace viewer in a browser: first picture, frames while panning and zooming, largest answer, heap; beside xprof's.

    bench/trace_page.py [--xspace 1000000] [--trace 10000000] [--rounds 3] [--seconds 4] [--no-xprof]
                        [--captures DIR] [--venv DIR] [--sonde build/release/sonde]

Makes an XSpace and a PyTorch trace of about that many events (once, by the shared makers; 10 million take about
four minutes), opens each in a server that has read it and looks at it in headless Chromium without a GPU
(bench/trace_page.mjs). xprof's own viewer runs on the XSpace, alternating with Sonde; it does not open the PyTorch
trace. Figures are medians of the rounds, printed as Markdown. Wanted of Sonde: first picture < 1 s, p95 of the frames
<= 50 ms, answers <= 256 kB, heap < 150 MB. A size of 0 leaves that part out. Full size: about 8 minutes.
"""

import argparse
import base64
import gzip
import importlib.util
import json
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("profile_bench", HERE / "profile.py")
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)

PATIENCE_S = 300  # for a first picture


def measured(url: str, seconds: float) -> dict:
    done = subprocess.run(["node", HERE / "trace_page.mjs", url, str(seconds), str(PATIENCE_S)], capture_output=True, text=True, timeout=2 * PATIENCE_S)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no answer")
    return json.loads(done.stdout.splitlines()[-1])


def sonde_url(server, session: str) -> str:
    view = json.dumps({"profile": {"session": session, "tool": "trace_viewer"}}).encode()
    return f"{server.base}/#profile&v=1.{base64.urlsafe_b64encode(view).decode().rstrip('=')}"


def fetched(url: str, timeout: float) -> bytes:
    """The body of an answer; xprof packs it whether asked to or not."""
    body = urllib.request.urlopen(url, timeout=timeout).read()
    return gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def python_with_xprof(venv: Path) -> Path:
    python = venv / "bin" / "python"
    if not (venv / "bin" / "xprof").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", bench.XPROF], check=True)
    return python


class Xprof:
    """xprof's own server on a log directory, its caches filled by the very request its page makes, and the address of
    its trace viewer: the frame that its Angular page opens for the tool trace_viewer@ of a session."""

    def __init__(self, python: Path, logdir: Path):
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        program = python.parent / "xprof"
        self.process = subprocess.Popen([program, "--logdir", logdir, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        began = time.perf_counter()
        while True:
            try:
                self.runs = json.loads(fetched(f"{self.base}/data/plugin/profile/runs", 120))
                break
            except (urllib.error.URLError, ConnectionError):
                if self.process.poll() is not None or time.perf_counter() - began > 90:
                    self.stop()
                    raise SystemExit("xprof does not answer") from None
                time.sleep(0.1)
        self.run = self.runs[0]
        hosts = json.loads(fetched(f"{self.base}/data/plugin/profile/hosts?run={urllib.parse.quote(self.run)}&tag=trace_viewer@", 300))
        self.host = hosts[0]["hostname"] if isinstance(hosts[0], dict) else hosts[0]
        self.data = f"/data/plugin/profile/data?run={urllib.parse.quote(self.run)}&tag=trace_viewer@&host={urllib.parse.quote(self.host)}"
        began = time.perf_counter()
        answer = fetched(f"{self.base}{self.data}&hosts={urllib.parse.quote(self.host)}&replace_model=true&new_backend=false&resolution=5400", 900)
        self.first_answer_s, self.first_answer_mb = time.perf_counter() - began, len(answer) / 1e6

    def url(self) -> str:
        return f"{self.base}/data/plugin/profile/trace_viewer_index.html?is_streaming=true&is_oss=true&trace_data_url={urllib.parse.quote(self.data, safe='')}&source_code_service=false"

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def rows(name: str, results: dict, wanted: dict) -> None:
    columns = list(results)
    print(f"\n**{name}**\n")
    print("| | " + " | ".join(columns) + " | wanted |")
    print("|---|" + "--:|" * len(columns) + "--:|")
    for key, label, unit in [("picture_ms", "first picture", "ms"), ("p50_ms", "frame, median", "ms"), ("p95_ms", "frame, p95", "ms"), ("max_ms", "frame, longest", "ms"),
                             ("largest_kb", "largest answer", "kB"), ("heap_mb", "JavaScript heap", "MB")]:
        cells = [f"{statistics.median(one[key] for one in results[column]):.0f} {unit}" if results[column] else "—" for column in columns]
        print(f"| {label} | " + " | ".join(cells) + f" | {wanted.get(key, '')} |")


WANTED = {"picture_ms": "< 1000", "p95_ms": "≤ 50", "largest_kb": "≤ 256", "heap_mb": "< 150"}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--xspace", type=int, default=1_000_000)
    arguments.add_argument("--trace", type=int, default=10_000_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--seconds", type=float, default=4)
    arguments.add_argument("--no-xprof", action="store_true")
    arguments.add_argument("--captures", type=Path, default=Path(tempfile.gettempdir()) / "sonde-bench-captures")
    arguments.add_argument("--venv", type=Path, default=Path(tempfile.gettempdir()) / "sonde-bench-xprof")
    arguments.add_argument("--sonde", type=Path, default=bench.ROOT / "build" / "release" / "sonde")
    options = arguments.parse_args()
    tools = bench.SHARED / "tools"
    if options.xspace > 0:
        logdir = options.captures / f"page_{options.xspace}"
        if not list(logdir.glob("plugins/profile/*/*.xplane.pb")):
            subprocess.run([sys.executable, tools / "make_synth_xspace.py", logdir, "--events", str(options.xspace * 2 // 3), "--steps", "100", "--gpus", "2"], check=True, stdout=subprocess.DEVNULL)
        results: dict = {"Sonde": []}
        rival = None
        server = bench.Server(options.sonde, logdir)
        try:
            session = server.session()
            slices = server.get(f"/api/v1/trace/tracks?session={urllib.parse.quote(session, safe='')}")["slices"]
            if not options.no_xprof:
                results["xprof"] = []
                rival = Xprof(python_with_xprof(options.venv), logdir)
            for _ in range(options.rounds):
                results["Sonde"].append(measured(sonde_url(server, session), options.seconds))
                if rival is not None:
                    try:
                        results["xprof"].append(measured(rival.url(), options.seconds))
                    except RuntimeError as problem:
                        print(f"xprof: {problem}", file=sys.stderr)
            if rival is not None:
                print(f"\nxprof's first answer, before any page: {rival.first_answer_s:.1f} s, {rival.first_answer_mb:.1f} MB", flush=True)
        finally:
            server.process.terminate()
            server.process.wait(30)
            if rival is not None:
                rival.stop()
        rows(f"XSpace of {slices} events", results, WANTED)
    if options.trace > 0:
        folder = options.captures / f"page_trace_{options.trace}" / "plugins" / "profile" / "t"
        file = folder / "worker0.pt.trace.json"
        if not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.executable, tools / "make_synth_trace.py", "--events", str(options.trace), "-o", file], check=True, stdout=subprocess.DEVNULL)
        server = bench.Server(options.sonde, folder.parents[2])
        try:
            session = server.session()
            began = time.perf_counter()
            slices = server.get(f"/api/v1/trace/tracks?session={urllib.parse.quote(session, safe='')}")["slices"]
            read = time.perf_counter() - began
            found = [measured(sonde_url(server, session), options.seconds) for _ in range(options.rounds)]
        finally:
            server.process.terminate()
            server.process.wait(30)
        rows(f"PyTorch trace of {slices} slices, read by the server in {read:.1f} s", {"Sonde": found}, WANTED)
    return 0


if __name__ == "__main__":
    sys.exit(main())
