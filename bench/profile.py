#!/usr/bin/env python3
"""Races the profile tools against xprof's converter on large synthetic captures, cold, alternating.

    bench/profile.py [--sizes M,L] [--tools overview_page,framework_op_stats,trace_viewer] [--rounds 3]
                     [--venv DIR] [--captures DIR] [--sonde build/release/sonde]

Makes the venv with xprof (once) and the captures (once, by the shared make_synth_xspace.py). Each figure is
the median over the rounds of a fresh process on an empty result cache. xprof: the converter call alone,
imports not counted. Sonde: the whole process, from its start to the last byte of the answer; for the trace
viewer the server, from its start to the first view of all tracks. Wanted: CPU >= 10x, peak memory <= 3x the
file (files of 50 MB and more) and <= 1/4 of xprof's. L takes about 2 minutes a round, M 15 seconds.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("SONDE_SHARED", ROOT.parent / "shared"))
XPROF = "xprof==2.24.2"
SIZES = {"S": ["--events", "2000", "--steps", "8"], "M": ["--events", "100000", "--steps", "50"],
         "L": ["--events", "1000000", "--steps", "100", "--gpus", "2"],
         "XL": ["--events", "6000000", "--steps", "400", "--gpus", "4"]}

CONVERT = r"""
import json, os, resource, shutil, sys, tempfile, time
from xprof.convert import raw_to_tool_data as convert
capture, tool = sys.argv[1:3]
folder = tempfile.mkdtemp()
path = shutil.copy(capture, folder)
params = {"trace_viewer_options": {"resolution": "8000", "start_time_ms": None, "end_time_ms": None}} if tool == "trace_viewer@" else {}
before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
data, _ = convert.xspace_to_tool_data([path], tool, params)
wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
shutil.rmtree(folder)
print("FIGURES " + json.dumps({"cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, "wall": wall,
                              "peak": after.ru_maxrss / 1024, "bytes": len(data)}))
"""


def run_xprof(python: Path, capture: Path, tool: str) -> dict:
    tool = "trace_viewer@" if tool == "trace_viewer" else tool
    done = subprocess.run([python, "-c", CONVERT, capture, tool], capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("FIGURES ")]
    if not lines:
        raise SystemExit(f"xprof gave no answer for {tool}: {done.stderr[-500:]}")
    return json.loads(lines[-1][8:])


def run_tool(sonde: Path, capture: Path, tool: str) -> dict:
    with tempfile.TemporaryFile() as out:
        began = time.perf_counter()
        process = subprocess.Popen([sonde, "profile", capture, "--tool", tool, "--json"], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - began
        if process.returncode != 0:
            raise SystemExit(f"sonde profile --tool {tool} ended with {process.returncode}")
        return {"cpu": usage.ru_utime + usage.ru_stime, "wall": wall, "peak": usage.ru_maxrss / 1024, "bytes": out.seek(0, 2)}


class Server:
    """A Sonde of its own on a free loopback port."""

    def __init__(self, sonde: Path, logdir: Path):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        self.began = time.perf_counter()
        self.process = subprocess.Popen([sonde, "--logdir", logdir, "--host", "127.0.0.1", "--port", str(port)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            try:
                self.get("/api/v1/profile/sessions")
                return
            except (urllib.error.URLError, ConnectionError):
                if self.process.poll() is not None or time.perf_counter() - self.began > 30:
                    raise SystemExit("sonde does not answer") from None
                time.sleep(0.002)

    def get(self, path: str):
        with urllib.request.urlopen(self.base + path) as answer:
            return json.loads(answer.read())

    def post(self, path: str, body: dict) -> bytes:
        request = urllib.request.Request(self.base + path, json.dumps(body).encode(), {"Content-Type": "application/json", "Origin": self.base})
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def session(self) -> str:
        """The id of the only capture, waited for until the folder has been looked through."""
        while True:
            sessions = self.get("/api/v1/profile/sessions")
            listed = sessions["sessions"] if isinstance(sessions, dict) else sessions
            if listed:
                return listed[0]["id"] if "id" in listed[0] else listed[0]["session"]
            time.sleep(0.005)

    def figures(self) -> dict:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        peak = next(line for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
        return {"cpu": (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), "wall": time.perf_counter() - self.began,
                "peak": int(peak.split()[1]) / 1024}

    def stop(self):
        self.process.terminate()
        self.process.wait()


def run_viewer(sonde: Path, logdir: Path) -> dict:
    server = Server(sonde, logdir)
    try:
        session = urllib.request.quote(server.session(), safe="")
        tracks = server.get(f"/api/v1/trace/tracks?session={session}")
        rows = [{"track": t["id"]} for t in tracks["tracks"] if t["slices"]]
        view = server.post(f"/api/v1/trace/view?session={session}", {"px": 1600, "rows": rows})
        return {**server.figures(), "bytes": len(view)}
    finally:
        server.stop()


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sizes", default="M,L", help=f"of {', '.join(SIZES)}")
    arguments.add_argument("--tools", default="overview_page,framework_op_stats,trace_viewer")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--venv", type=Path, default=Path(tempfile.gettempdir()) / "sonde-bench-xprof")
    arguments.add_argument("--captures", type=Path, default=Path(tempfile.gettempdir()) / "sonde-bench-captures")
    arguments.add_argument("--sonde", type=Path, default=ROOT / "build" / "release" / "sonde")
    options = arguments.parse_args()
    maker = SHARED / "tools" / "make_synth_xspace.py"
    if not maker.exists():
        print("bench/profile.py: the shared tools are not there; set SONDE_SHARED", file=sys.stderr)
        return 2
    python = options.venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", options.venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", XPROF], check=True)
    print("| capture | tool | xprof CPU s / wall s / MB | Sonde CPU s / wall s / MB | CPU | wall | memory | of the file |")
    print("|---|---|---|---|--:|--:|--:|--:|")
    for size in options.sizes.split(","):
        logdir = options.captures / size
        if not list(logdir.glob("plugins/profile/*/*.xplane.pb")):
            subprocess.run([sys.executable, maker, logdir, *SIZES[size]], check=True, stdout=subprocess.DEVNULL)
        capture = next(logdir.glob("plugins/profile/*/*.xplane.pb"))
        megabytes = capture.stat().st_size / 1e6
        for tool in options.tools.split(","):
            rounds = {"xprof": [], "sonde": []}
            for _ in range(options.rounds):
                rounds["xprof"].append(run_xprof(python, capture, tool))
                rounds["sonde"].append(run_viewer(options.sonde, logdir) if tool == "trace_viewer" else run_tool(options.sonde, capture, tool))
            rival, ours = ({k: statistics.median(r[k] for r in rounds[who]) for k in ("cpu", "wall", "peak", "bytes")} for who in ("xprof", "sonde"))
            print(f"| {size}, {megabytes:.1f} MB | {tool} | {rival['cpu']:.2f} / {rival['wall']:.2f} / {rival['peak']:.0f} "
                  f"| {ours['cpu']:.3f} / {ours['wall']:.3f} / {ours['peak']:.0f} | {rival['cpu'] / max(ours['cpu'], 0.001):.1f}x "
                  f"| {rival['wall'] / ours['wall']:.1f}x | 1/{rival['peak'] / ours['peak']:.1f} | {ours['peak'] * 1.048576 / megabytes:.1f}x |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
