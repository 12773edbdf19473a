"""Ten thousand writers, replayed: files that grow while a server reads them and a pusher follows; the points of each are counted."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from databases import Debian

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scale"))
from event_files import START, event_log
from sonde_server import PROGRAM, Server

ROUNDS = 4


def pieces(writer):
    """What a writer writes, round by round; no two have the same number of points in each."""
    draw, step = random.Random(writer), 0
    for turn in range(ROUNDS):
        count = 1 + draw.randrange(4)
        head = event_log.first(START) if turn == 0 else b""
        yield count, head + b"".join(event_log.scalars(START + n, n, {"loss": float(n)}) for n in range(step, step + count))
        step += count


def test_the_points_of_each_of_ten_thousand_writers_arrive(tmp_path):
    writers = int(os.environ.get("SONDE_WRITERS", "10000"))
    (tmp_path / "node").mkdir()
    logs, node = tmp_path / "logs", Debian(tmp_path / "node")
    replay = [pieces(writer) for writer in range(writers)]
    counts = {f"r{writer:05}": 0 for writer in range(writers)}

    def write():
        for (run, _), piece in zip(list(counts.items()), replay):
            count, body = next(piece)
            (logs / run).mkdir(parents=True, exist_ok=True)
            with open(logs / run / "events.out.tfevents.1", "ab") as out:
                out.write(body)
            counts[run] += count

    def wait_for(look):
        deadline = time.monotonic() + 600
        while look() != counts:
            assert time.monotonic() < deadline and pusher.poll() is None
            time.sleep(0.5)

    def pushed():
        try:
            rows = node.ask("SELECT run, points FROM team.series FINAL WHERE project = 'many'")
        except OSError:  # the tables are made by the pusher
            return {}
        return {run: int(points) for run, points in rows}

    write()
    pusher = subprocess.Popen([PROGRAM, "push", str(logs), "--to", f"clickhouse://default@127.0.0.1:{node.port}/team", "--project", "many", "--follow"],
                              env=os.environ | {"CLICKHOUSE_PASSWORD": "word"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with Server(logs, None, "--reload_interval", "0.5") as server:
            for _ in range(ROUNDS - 1):
                write()
            wait_for(lambda: {run["name"]: run["points"] for run in server.json("/api/v1/runs")["runs"]})
            wait_for(pushed)
        rows = node.ask("SELECT run, uniqExact(n), sum(value) FROM team.points FINAL WHERE project = 'many' GROUP BY run")
        assert {run: (int(points), float(total)) for run, points, total in rows} == {run: (n, n * (n - 1) / 2) for run, n in counts.items()}
        print(f"{writers} writers, {sum(counts.values())} points")
    finally:
        pusher.terminate()
        pusher.wait(60)
        node.stop()
