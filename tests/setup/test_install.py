"""The install step of ./run and ./test on machines that do not exist: stand-ins for apt-get, apt-cache, dpkg-query, id and
sudo answer as a distribution would, and what would be installed, or what is said instead, is compared."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = ["bash", "cat", "cut", "env", "grep", "printf", "seq", "tr", "true"]
PACKAGES = "g++ libboost1.81-dev|libboost1.83-dev libfmt-dev"
DEBIAN = "g++ libboost1.81-dev libfmt-dev"
UBUNTU = "g++ libboost1.83-dev libfmt-dev"

# apt-cache writes as much as the real one can: far more than a pipe holds, so that a reader who leaves early is noticed.
STAND_INS = {
    "dpkg-query": """names=" ${*:3} "; code=0
        for name in ${*:3}; do
          case " $INSTALLED " in *" $name "*) printf ' %s=installed ' "$name" ;;
          *) case " $REMOVED " in *" $name "*) printf ' %s=config-files ' "$name" ;; *) code=1 ;; esac ;; esac
        done; exit $code""",
    "apt-cache": """offered=$OFFERED; [ -e "$STATE/updated" ] && offered="$offered $OFFERED_AFTER_UPDATE"
        case " $offered " in *" $2 "*) printf '%s:\\n  Installed: (none)\\n  Candidate: 1.0\\n' "$2"
          for line in $(seq 3000); do printf '     %s http://mirror bookworm/main\\n' "$line" || exit 141; done ;;
        *) case " $KNOWN " in *" $2 "*) printf '%s:\\n  Installed: (none)\\n  Candidate: (none)\\n' "$2" ;; esac ;; esac""",
    "apt-get": """case $1 in
          update) [ -z "$OFFLINE" ] || { echo 'E: no network' >&2; exit 100; }; : >"$STATE/updated" ;;
          install) [ -z "$OFFLINE" ] || { echo 'E: Failed to fetch' >&2; exit 100; }
            for word in "${@:2}"; do case $word in -*) ;; *) printf '%s ' "$word" >>"$STATE/asked" ;; esac; done ;;
        esac""",
    "id": 'printf "%s\\n" "${USER_ID:-0}"',
    "sudo": ': >"$STATE/sudo"; exec "$@"',
}

# name, what the machine is like, what is installed (or None), what is said (or None)
MACHINES = [
    ("Debian 12, nothing there", {"OFFERED": DEBIAN}, DEBIAN, None),
    ("Ubuntu 24.04, nothing there", {"OFFERED": UBUNTU}, UBUNTU, None),
    ("lists not refreshed yet", {"OFFERED_AFTER_UPDATE": DEBIAN}, DEBIAN, None),
    ("a name that is known but has no candidate", {"OFFERED": UBUNTU, "KNOWN": "libboost1.81-dev"}, UBUNTU, None),
    ("everything there (Debian)", {"INSTALLED": DEBIAN, "OFFERED": DEBIAN}, None, None),
    ("everything there (Ubuntu)", {"INSTALLED": UBUNTU, "OFFERED": UBUNTU}, None, None),
    ("one package missing", {"INSTALLED": "g++ libboost1.81-dev", "OFFERED": DEBIAN}, "libfmt-dev", None),
    ("removed, its settings left", {"INSTALLED": "g++ libboost1.81-dev", "REMOVED": "libfmt-dev", "OFFERED": DEBIAN}, "libfmt-dev", None),
    ("not root, with sudo", {"OFFERED": DEBIAN, "USER_ID": "1000"}, DEBIAN, None),
    ("not root, no sudo", {"OFFERED": DEBIAN, "USER_ID": "1000", "WITHOUT": "sudo"}, None,
     "these packages are missing and there is neither root nor sudo to install them: g++ libboost1.81-dev|libboost1.83-dev libfmt-dev"),
    ("no apt", {"WITHOUT": "apt-get apt-cache dpkg-query"}, None,
     "these packages are missing and there is no apt-get to install them: g++ libboost1.81-dev|libboost1.83-dev libfmt-dev"),
    ("offline with lists", {"OFFERED": DEBIAN, "OFFLINE": "1"}, None, "apt-get could not install: g++ libboost1.81-dev libfmt-dev"),
    ("offline without lists", {"OFFLINE": "1"}, None,
     "this machine's package lists do not have: g++ libboost1.81-dev|libboost1.83-dev libfmt-dev (Debian 12 and Ubuntu 24.04 do; is the network up?)"),
    ("another distribution", {"OFFERED": "g++ libfmt-dev"}, None,
     "this machine's package lists do not have: libboost1.81-dev|libboost1.83-dev (Debian 12 and Ubuntu 24.04 do; is the network up?)"),
]


def install(folder: Path, machine: dict[str, str], script: str) -> tuple[subprocess.CompletedProcess, str | None]:
    """Runs a line of shell after tools/setup.sh on the machine; the packages apt-get was asked for, or None."""
    place = folder / "bin"
    place.mkdir()
    for tool in TOOLS:
        path = next((Path(d) / tool for d in ("/usr/bin", "/bin") if (Path(d) / tool).exists()), None)
        if path:
            (place / tool).symlink_to(path)
    for name, text in STAND_INS.items():
        if name not in machine.get("WITHOUT", "").split():
            (place / name).write_text(f"#!{place}/bash\n{text}\n")
            (place / name).chmod(0o755)
    environment = {"INSTALLED": "", "REMOVED": "", "OFFERED": "", "OFFERED_AFTER_UPDATE": "", "KNOWN": "", "OFFLINE": ""} | machine
    environment |= {"PATH": str(place), "STATE": str(folder), "LC_ALL": "C"}
    run = subprocess.run([str(place / "bash"), "-c", f"set -euo pipefail; root={ROOT}; . {ROOT}/tools/setup.sh; {script}"],
                         env=environment, capture_output=True, text=True)
    asked = folder / "asked"
    return run, asked.read_text().strip() if asked.exists() else None


@pytest.mark.parametrize("name, machine, installed, sentence", MACHINES, ids=[m[0] for m in MACHINES])
def test_machine(tmp_path, name, machine, installed, sentence):
    run, asked = install(tmp_path, machine, f"install_packages {PACKAGES.replace('|', chr(92) + '|')}")
    assert asked == installed, run.stderr
    assert (run.returncode != 0) == (sentence is not None), run.stderr
    if sentence:
        assert f"sonde: {sentence}" in run.stderr.splitlines()
    assert (tmp_path / "sudo").exists() == (machine.get("USER_ID") == "1000" and sentence is None)


def test_the_real_lists_are_asked_for(tmp_path):
    """Every name that ./run and ./test need, on a machine that offers all of them."""
    names, _ = install(tmp_path, {}, 'echo "$sonde_build_packages $sonde_test_packages"')
    words = names.stdout.split()
    offered = " ".join(w.split("|")[0] for w in words)
    second = tmp_path / "second"
    second.mkdir()
    run, asked = install(second, {"OFFERED": offered}, "install_packages $sonde_build_packages $sonde_test_packages")
    assert run.returncode == 0, run.stderr
    assert asked.split() == offered.split() and len(words) > 20


def test_no_pipe_is_left_early():
    """Under pipefail a reader that leaves at the first match (grep -q, head) makes the writer's death the answer."""
    import re

    shell = [p for p in (ROOT / "run", ROOT / "test", *sorted((ROOT / "tools").iterdir()))
             if p.is_file() and (p.suffix == ".sh" or p.read_bytes()[:24].startswith((b"#!/usr/bin/env bash", b"#!/bin/sh", b"#!/bin/bash")))]
    assert len(shell) >= 3
    for path in shell:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            code = line.split("#")[0]
            assert not re.search(r"\|\s*(grep\s+(-\w*q|--quiet)|head\b)", code), f"{path.name}:{number}: {line}"
