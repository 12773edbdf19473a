"""Roles, hashed tokens, a proxy that says who asks, and the audit log of a team's server."""

import json
import subprocess

import pytest

from event_files import event_file
from sonde_server import PROGRAM, Server


def users(*arguments):
    run = subprocess.run([PROGRAM, "users", *map(str, arguments)], capture_output=True, text=True, timeout=30)
    return run.returncode, run.stdout.strip()


@pytest.fixture
def team(tmp_path):
    (tmp_path / "logs/r").mkdir(parents=True)
    (tmp_path / "logs/r/events.out.tfevents.1").write_bytes(event_file(5))
    file, tokens = tmp_path / "users", {}
    for name, role in (("vera", "viewer"), ("edda", "editor"), ("ada", "admin")):
        code, tokens[name] = users(file, "add", name, role)
        assert code == 0 and len(tokens[name]) == 32 and tokens[name] not in file.read_text()
    assert users(file, "add", "proxied", "editor", "--no_token")[0] == 0
    assert users(file)[1].split() == ["vera", "viewer", "edda", "editor", "ada", "admin", "proxied", "editor"]
    return tmp_path, file, tokens


def bearer(token, **more):
    return {"Authorization": f"Bearer {token}", **more}


CHANGE = {"Sonde-Request": "1", "Content-Type": "application/json"}


def test_roles_and_the_audit_log(team):
    folder, file, tokens = team
    flags = ("--users", str(file), "--audit_log", str(folder / "audit"), "--user_header", "X-User")
    with Server(folder / "logs", None, *flags, headers=bearer(tokens["vera"])) as server:
        def reload(**headers):
            return server.ask("/api/v1/reload", b"{}", "POST", {**CHANGE, **headers})[0]

        assert server.json("/api/v1/user") == {"name": "vera", "role": "viewer"}
        assert server.json("/data/runs") == ["r"]
        assert server.ask("/data/runs", headers={})[0] == 401
        assert server.ask("/data/runs", headers=bearer("0" * 32))[0] == 401
        assert server.ask("/data/runs", headers={"X-User": "stranger"})[0] == 403
        assert server.ask("/data/runs", headers={"X-User": "proxied"})[0] == 200
        assert reload(**bearer(tokens["vera"])) == 403
        assert server.ask("/data/plugin/profile/capture_profile?service_addr=127.0.0.1:1", headers=bearer(tokens["vera"], **{"Sonde-Role": "admin"}))[0] == 403
        assert reload(**bearer(tokens["edda"])) < 300 and reload(**{"X-User": "proxied"}) < 300
        assert server.ask("/api/v1/audit", headers=bearer(tokens["edda"]))[0] == 403
        status, lines = server.ask("/api/v1/audit", headers=bearer(tokens["ada"]))
        seen = [(line["user"], line["path"], line["status"]) for line in map(json.loads, lines.splitlines())]
        assert status == 200 and ("vera", "/api/v1/reload", 403) in seen and ("proxied", "/api/v1/reload", 200) in [(u, p, 200 if s < 300 else s) for u, p, s in seen]
        assert ("", "/data/runs", 401) in seen and ("", "/data/runs", 403) in seen
    written = (folder / "audit").read_text()
    assert all(token not in written and token not in server.said for token in tokens.values())
    assert (folder / "audit").stat().st_mode & 0o77 == 0


def test_what_contradicts_itself_is_refused(team):
    folder, file, _ = team
    def start(*flags):
        return subprocess.run([PROGRAM, folder / "logs", "--port", "0", *flags], capture_output=True, text=True, timeout=30)

    for flags in (["--users", str(file), "--auth", "none"], ["--user_header", "X-User"], ["--users", str(folder / "none")]):
        run = start(*flags)
        assert run.returncode != 0 and run.stderr
    (folder / "bad").write_text("vera king abc\n")
    assert "line 1" in start("--users", str(folder / "bad")).stderr
    assert users(file, "remove", "vera")[0] == 0 and users(file, "remove", "vera")[0] == 1
    assert users(file, "add", "x", "king")[0] == 2
