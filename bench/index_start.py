"""What a start costs without an index, with a cold one and with a warm one, at three sizes: CPU seconds, bytes read, memory, bytes of the index.

    python bench/index_start.py [--points 1e6,1e7,1e8] [--program build/release/sonde]

Runs are hard links to one event file of a million points, so that 10^8 points need the disk of 10^6; each has an index of its own.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import event_log

ROOT = Path(__file__).resolve().parent.parent
POINTS = 1_000_000  # of a file
START = 1.7e9


def make_file(path, points):
    with path.open("wb") as out:
        out.write(event_log.first(START))
        for step in range(points):
            out.write(event_log.scalars(START + step, step, {"loss": float(step % 977)}))


def facts(pid):
    text = Path(f"/proc/{pid}/io").read_text() + Path(f"/proc/{pid}/status").read_text()
    ticks = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return {"cpu_s": (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK"), "read": int(re.search(r"rchar: (\d+)", text)[1]),
            "anonymous": int(re.search(r"RssAnon:\s+(\d+)", text)[1]) * 1024}


def start(program, logs, *flags):
    begin = time.monotonic()
    process = subprocess.Popen([program, "--logdir", str(logs), "--port", "0", "--reload_interval", "0", *flags], text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    line = next(line for line in process.stderr if "http://" in line)
    base = re.search(r"http://[\w.\[\]:]+", line)[0]
    ask = lambda path: json.load(urllib.request.urlopen(base + path))
    while ask("/api/v1/diagnosis")["progress"]["loading"]:
        time.sleep(0.01)
    points = ask("/data/plugin/scalars/scalars?run=run0000&tag=loss")
    assert len(points) > 0
    result = facts(process.pid) | {"first_chart_s": time.monotonic() - begin}
    process.send_signal(signal.SIGINT)
    process.wait()
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", default="1e6,1e7,1e8")
    parser.add_argument("--program", default=str(ROOT / "build/release/sonde"))
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sonde-index-"))
    try:
        make_file(folder / "one", POINTS)
        print(f"{'points':>8} {'logs MB':>8} {'start':>8} {'chart s':>8} {'CPU s':>7} {'read MB':>8} {'anon MB':>8} {'index MB':>9}")
        for points in (int(float(text)) for text in options.points.split(",")):
            logs, index = folder / f"logs{points}", folder / f"index{points}"
            for run in range(max(1, points // POINTS)):
                (logs / f"run{run:04}").mkdir(parents=True)
                os.link(folder / "one", logs / f"run{run:04}/events.out.tfevents.1")
            bytes_of_logs = max(1, points // POINTS) * (folder / "one").stat().st_size
            for name, flags in (("none", ()), ("written", ("--index_dir", str(index))), ("used", ("--index_dir", str(index)))):
                cost = start(options.program, logs, *flags)
                kept = sum(path.stat().st_size for path in index.iterdir()) if index.exists() else 0
                print(f"{points:8.0e} {bytes_of_logs / 1e6:8.0f} {name:>8} {cost['first_chart_s']:8.2f} {cost['cpu_s']:7.2f} {cost['read'] / 1e6:8.1f}"
                      f" {cost['anonymous'] / 1e6:8.1f} {kept / 1e6:9.1f}", flush=True)
            shutil.rmtree(index, ignore_errors=True)
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
