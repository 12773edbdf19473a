"""`sonde watch`: exit codes, rules, hooks, and a run that reaches its aim while it is watched."""

import json
import os
import shutil
import struct
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SONDE = os.environ.get("SONDE_BINARY", str(ROOT / "build/release/sonde"))


def crc(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(n):
    out = b""
    while n >= 0x80:
        out += bytes([n & 0x7F | 0x80])
        n >>= 7
    return out + bytes([n])


def record(tag, step, value, wall):
    one = b"\x0a" + varint(len(tag)) + tag.encode() + b"\x15" + struct.pack("<f", value)
    summary = b"\x0a" + varint(len(one)) + one
    event = b"\x09" + struct.pack("<d", wall) + b"\x10" + varint(step) + b"\x2a" + varint(len(summary)) + summary
    head = struct.pack("<Q", len(event))
    return head + struct.pack("<I", crc(head)) + event + struct.pack("<I", crc(event))


def write(folder, tag, values, start=1_700_000_000.0, first=0):
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "events.out.tfevents.1700000000.h", "ab") as file:
        for i, value in enumerate(values):
            file.write(record(tag, first + i, value, start + i))


def watch(logdir, *arguments, **options):
    return subprocess.run([SONDE, "watch", str(logdir), *arguments], capture_output=True, text=True, timeout=60, check=False, **options)


@pytest.fixture
def logs(tmp_path):
    write(tmp_path / "a", "acc", [0.1, 0.5, 0.95])
    write(tmp_path / "b", "acc", [0.1, 0.2, 0.3])
    return tmp_path


def test_until_and_its_exit_codes(logs):
    reached = watch(logs, "--until", "acc > 0.9", "--once")
    assert reached.returncode == 0 and "run a" in reached.stdout
    assert watch(logs, "--until", "acc > 0.9", "--runs", "^b$", "--once").returncode == 4
    assert watch(logs, "--until", "max(acc) >= 0.94 and step(acc) == 2", "--once").returncode == 0
    assert watch(logs, "--until", "acc > 2", "--timeout", "0.2", "--interval", "0.05").returncode == 4
    assert json.loads(watch(logs, "--until", "acc > 0.9", "--once", "--json").stdout) == {"reached": "a"}


@pytest.mark.parametrize("arguments", [["--until", "acc"], ["--until", "acc > x"], ["--runs", "(", "--until", "a > 1"], [], ["--rules", "none.yaml"]])
def test_wrong_usage(logs, arguments):
    assert watch(logs, *arguments, "--once").returncode == 2


def test_waits_until_a_running_program_gets_there(tmp_path):
    write(tmp_path / "r", "acc", [0.1])
    process = subprocess.Popen([SONDE, "watch", str(tmp_path), "--until", "acc > 0.9", "--timeout", "50", "--interval", "0.1"], stdout=subprocess.PIPE, text=True)
    time.sleep(0.5)
    assert process.poll() is None
    write(tmp_path / "r", "acc", [0.5, 0.97], first=1)
    assert process.wait(55) == 0


def test_rules_of_the_log_directory(tmp_path):
    write(tmp_path / "bad", "loss", [1.0, 0.5, float("nan"), 0.4])
    write(tmp_path / "good", "loss", [1.0, 0.5, 0.4, 0.3])
    (tmp_path / "alerts.yaml").write_text("broken:\n  when: nan\n  tag: loss\nlow:\n  when: loss < 0.35\n")
    found = watch(tmp_path, "--once", "--json")
    assert found.returncode == 3
    alerts = {(a["rule"], a["run"]): a for a in map(json.loads, found.stdout.splitlines())}
    assert set(alerts) == {("broken", "bad"), ("low", "good")}
    assert alerts["broken", "bad"]["step"] == 2 and "loss is nan from step 2 on" in alerts["broken", "bad"]["text"]
    (tmp_path / "alerts.yaml").write_text("quiet:\n  when: loss > 100\n")
    assert watch(tmp_path, "--once").returncode == 0
    (tmp_path / "alerts.yaml").write_text("wrong:\n  when: sometimes\n")
    assert "rule 'wrong'" in watch(tmp_path, "--once").stderr


def test_one_alert_for_a_group_with_a_link(tmp_path):
    for name, start in (("exp/a", 1_700_000_000.0), ("exp/b", 1_700_000_100.0), ("other/c", 1_700_000_000.0)):
        write(tmp_path / name, "loss (x)", [1.0, float("nan")], start)
    (tmp_path / "exp/a/sonde_run.json").write_text('{"group": "sweep"}')
    (tmp_path / "other/c/sonde_run.json").write_text('{"group": "sweep"}')
    (tmp_path / "alerts.yaml").write_text("broken:\n  when: nan\n  per: group\n")
    found = watch(tmp_path, "--once", "--json", "--url", "http://host:1/")
    alerts = {one["group"]: one for one in map(json.loads, found.stdout.splitlines())}
    assert set(alerts) == {"sweep", "exp"} and alerts["exp"]["run"] == "exp/b"
    assert alerts["sweep"]["text"].endswith("and so does 1 more run (group sweep)")
    assert alerts["exp"]["url"] == "http://host:1/?tagFilter=%5Eloss%20%5C%28x%5C%29%24&runFilter=%5Eexp%2Fb%24#timeseries"


def test_what_the_page_said_is_heard(tmp_path):
    write(tmp_path / "r", "loss", [1.0, float("nan")])
    (tmp_path / "alerts.yaml").write_text("broken:\n  when: nan\n")
    sidecar = tmp_path / ".sonde/sidecar.json"
    sidecar.parent.mkdir()

    def told(settings):
        sidecar.write_text(json.dumps({"sonde": 1, "settings": settings}))
        found = watch(tmp_path, "--once", "--json")
        return [json.loads(line)["rule"] for line in found.stdout.splitlines()], found

    assert told({"alerts": {"broken\nr\nloss": "silenced"}})[0] == []
    assert told({})[0] == ["broken"]
    of_page = {"high": {"when": "max(loss) > 0.5"}, "bad": {"when": "loss >"}}
    names, found = told({"alert_rules": of_page})
    assert set(names) == {"broken", "high"}
    assert "rule 'bad'" in found.stderr


def test_commands_come_from_the_command_line_only(tmp_path):
    write(tmp_path / "r", "loss", [float("nan")])
    mark = tmp_path / "mark"
    (tmp_path / "alerts.yaml").write_text(f"broken:\n  when: nan\n  command: touch {mark}\n")
    assert watch(tmp_path, "--once").returncode == 3 and not mark.exists()
    told = tmp_path / "told"
    watch(tmp_path, "--once", "--command", f'echo "$SONDE_RULE $SONDE_RUN $SONDE_STEP" > {told}; cat >> {told}')
    assert told.read_text().startswith("broken r 0\n") and json.loads(told.read_text().splitlines()[1])["tag"] == "loss"


def test_a_hostile_run_name_is_no_command(tmp_path):
    write(tmp_path / "$(touch pwned)", "loss", [float("nan")])
    (tmp_path / "alerts.yaml").write_text("broken:\n  when: nan\n")
    out = tmp_path / "out"
    watch(tmp_path, "--once", "--command", f'printf %s "$SONDE_RUN" > {out}', cwd=tmp_path)
    assert out.read_text() == "$(touch pwned)" and not (tmp_path / "pwned").exists()


def test_desktop_notification(tmp_path):
    write(tmp_path / "logs/-r", "loss", [float("nan")])
    (tmp_path / "logs/alerts.yaml").write_text("broken:\n  when: nan\n")
    program = tmp_path / "bin/notify-send"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/told\n')
    program.chmod(0o755)
    watch(tmp_path / "logs", "--once", "--notify", env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"})
    assert (tmp_path / "told").read_text().splitlines() == ["--app-name=Sonde", "--", "broken", "loss is nan from step 0 on (run -r)"]


def test_webhook(tmp_path):
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    got = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self):
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    write(tmp_path / "r", "loss", [float("inf")])
    (tmp_path / "alerts.yaml").write_text("broken:\n  when: nan\n")
    watch(tmp_path, "--once", "--webhook", f"http://127.0.0.1:{server.server_port}/")
    server.shutdown()
    assert [one["rule"] for one in got] == ["broken"]
