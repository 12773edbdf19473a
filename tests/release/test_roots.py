"""The released files in bare Debian roots of two ages: installed by the tools of that system, started there, asked from outside.

Needs root and debootstrap; the roots stay in build/roots. Debian 11 has glibc 2.31 and Python 3.9, for which there is no wheel:
its loader is asked whether it could load the module."""

import os
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest
from test_release import VERSION, one

ROOT = Path(__file__).resolve().parent.parent.parent
ROOTS = ROOT / "build/roots"
CLEAN = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
MACHINES = {"bullseye": "libstdc++6", "bookworm": "python3-venv"}  # and what is there beside the minimum


def mirror() -> list[str]:
    """The Debian mirror this machine uses, if its lists name one."""
    text = "".join(p.read_text() for p in [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))] if p.is_file())
    found = re.search(r"^(?:deb(?: \[[^]]*\])?|URIs:) +(https?://\S*/debian/?)(?:\s|$)", text, re.M)
    return [found[1]] if found else []


@pytest.fixture(scope="module", params=MACHINES)
def machine(request):
    if os.geteuid() != 0 or not shutil.which("debootstrap", path=CLEAN["PATH"]):
        pytest.skip("a bare root needs root and debootstrap")
    root = ROOTS / request.param
    if not (root / "made").exists():
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        run = subprocess.run(["debootstrap", "--variant=minbase", f"--include={MACHINES[request.param]}", request.param, root, *mirror()],
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=os.environ | {"PATH": CLEAN["PATH"]})
        if run.returncode:
            pytest.skip(f"debootstrap has no {request.param} here: {run.stdout.strip().splitlines()[-1]}")
        (root / "made").touch()
    shutil.rmtree(root / "srv", ignore_errors=True)
    shutil.copytree(ROOT / "tests/data/corpus/tf2_scalars", root / "srv/logs")
    return root


def inside(machine: Path, *command: str) -> str:
    run = subprocess.run(["chroot", machine, *command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=CLEAN)
    assert run.returncode == 0, run.stdout
    return run.stdout


def prove(machine: Path, program: str) -> None:
    assert inside(machine, program, "--version").startswith(f"{VERSION} (")
    server = subprocess.Popen(["chroot", machine, program, "--logdir", "/srv/logs", "--port", "0", "--read_only"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=CLEAN)
    try:
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
        assert "<title>" in urllib.request.urlopen(address, timeout=30).read().decode()
        assert urllib.request.urlopen(address + "data/runs", timeout=30).status == 200
    finally:
        server.terminate()
        server.wait()


def test_deb(dist, machine):
    shutil.copy(one(dist, "sonde_*.deb"), machine / "srv/sonde.deb")
    inside(machine, "dpkg", "-i", "/srv/sonde.deb")
    prove(machine, "/usr/bin/sonde")
    assert "/usr/lib/systemd/user/sonde.service" in inside(machine, "dpkg", "-L", "sonde")
    inside(machine, "dpkg", "--purge", "sonde")
    assert not (machine / "usr/bin/sonde").exists()


def test_tarball(dist, machine):
    shutil.copy(one(dist, "sonde-*-linux-*.tar.gz"), machine / "srv/sonde.tar.gz")
    inside(machine, "tar", "-xzf", "/srv/sonde.tar.gz", "-C", "/srv")
    prove(machine, f"/srv/sonde-{VERSION}-linux-{os.uname().machine}/bin/sonde")


def test_wheel(dist, machine):
    wheel = one(dist, "sonde_board-*.whl")
    if machine.name == "bullseye":
        zipfile.ZipFile(wheel).extractall(machine / "srv/wheel")
        (module,) = (machine / "srv/wheel/sonde").glob("_sonde*.so")
        said = inside(machine, "ldd", "-r", f"/srv/wheel/sonde/{module.name}")
        assert "not found" not in said, said  # "version `GLIBCXX_3.4.30' not found"
        missing = [line for line in said.splitlines() if "undefined symbol" in line and not re.search(r"undefined symbol: _?(Py|nb_)", line)]
        assert not missing, missing
        return
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", machine / "srv/wheels", "nanobind-backend>=1,<2"], check=True)
    shutil.copy(wheel, machine / "srv/wheels")
    inside(machine, "python3", "-m", "venv", "/srv/venv")
    inside(machine, "/srv/venv/bin/pip", "install", "--quiet", "--no-index", "--find-links", "/srv/wheels", "sonde-board")
    code = "import sonde; w = sonde.SummaryWriter('/srv/own'); w.add_scalar('a', 1, 1); w.close(); print(sonde.load('/srv/own').runs)"
    assert inside(machine, "/srv/venv/bin/python", "-c", code).strip()
    raised = "import sonde\ntry:\n  sonde.Writer('/proc/nowhere/at/all').scalar('a', 'x', 'y')\nexcept Exception as e:\n  print('raised', type(e).__name__)"
    assert inside(machine, "/srv/venv/bin/python", "-c", raised).startswith("raised ")  # an error of C++ arrives in Python
    prove(machine, "/srv/venv/bin/sonde")
