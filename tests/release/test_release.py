"""tools/release makes its files from a clean clone; each is installed into an empty place and run there. SONDE_DIST names a folder
of files that were made before."""

import gzip
import hashlib
import json
import os
import re
import subprocess
import tarfile
import tempfile
import urllib.request
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VERSION = re.search(r"project\(sonde VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
CLEAN = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LANG": "C.UTF-8"}


def one(dist: Path, pattern: str) -> Path:
    (found,) = dist.glob(pattern)
    return found


def prove(program: Path, tmp_path: Path, environment=None) -> None:
    """It says its version and commit, lists its licences, and serves its page and an answer."""
    environment = environment or CLEAN
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True, env=environment).stdout
    assert re.fullmatch(rf"{re.escape(VERSION)} \([0-9a-f]{{10}}\)\n", said), said
    licences = subprocess.run([program, "licences"], check=True, capture_output=True, text=True, env=environment).stdout
    assert all(f"  {name}\n" in licences for name in ("openssl", "svelte", "zlib"))
    server = subprocess.Popen([program, "--logdir", ROOT / "tests/data/corpus/tf2_scalars", "--port", "0", "--read_only"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, cwd=tmp_path)
    try:
        address = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
        page = urllib.request.urlopen(address, timeout=30).read().decode()
        (script,) = re.findall(r'<script type="module"[^>]* src="\./([^"]+)"', page)
        assert len(urllib.request.urlopen(address + script, timeout=30).read()) > 10_000
        assert json.load(urllib.request.urlopen(address + "data/environment", timeout=30))["version"].endswith(VERSION)
    finally:
        server.terminate()
        server.wait()


def test_sums_name_every_file(dist):
    lines = dict(reversed(line.split("  ")) for line in (dist / "SHA256SUMS").read_text().splitlines())
    files = {p.name for p in dist.iterdir() if p.is_file()} - {"SHA256SUMS"}
    assert set(lines) == files and len(files) == 5
    for name, digest in lines.items():
        assert hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest


def test_tarball(dist, tmp_path):
    with tarfile.open(one(dist, "sonde-*-linux-*.tar.gz")) as archive:
        archive.extractall(tmp_path)
    base = one(tmp_path, "sonde-*")
    prove(base / "bin/sonde", tmp_path)
    page = gzip.decompress((base / "share/man/man1/sonde.1.gz").read_bytes()).decode()
    assert page.startswith(".TH SONDE 1") and ".SH SONDE DOCTOR" in page and "\\-\\-logdir" in page
    subprocess.run(["bash", "-n", base / "share/bash-completion/completions/sonde"], check=True)
    done = subprocess.run(["bash", "-c", f". {base}/share/bash-completion/completions/sonde; COMP_WORDS=(sonde doc); COMP_CWORD=1; _sonde; echo ${{COMPREPLY[@]}}"],
                          check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    assert done.split() == ["doctor"]
    assert (base / "share/doc/sonde/LICENSES/openssl.txt").exists()


def test_deb(dist, tmp_path):
    package = one(dist, "sonde_*.deb")
    fields = subprocess.run(["dpkg-deb", "-f", package], check=True, capture_output=True, text=True).stdout
    assert f"Version: {VERSION}\n" in fields and re.search(r"Depends: libc6 \(>= 2\.(1\d|2[0-8])\)", fields)
    subprocess.run(["dpkg-deb", "-x", package, tmp_path / "root"], check=True)
    prove(tmp_path / "root/usr/bin/sonde", tmp_path)
    unit = (tmp_path / "root/usr/lib/systemd/user/sonde.service").read_text()
    assert "ExecStart=/usr/bin/sonde" in unit
    assert (tmp_path / "root/usr/share/man/man1/sonde.1.gz").exists() and (tmp_path / "root/usr/share/doc/sonde/copyright").exists()


def test_wheel(dist, tmp_path):
    wheel = one(dist, "sonde_board-*.whl")
    tag = re.search(r"-cp310-abi3-manylinux_2_(\d+)_\w+\.whl$", wheel.name)
    assert tag and int(tag[1]) <= 28, wheel.name  # what auditwheel found
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.endswith("licenses/LICENSES/openssl.txt") for name in names)
    venv.create(tmp_path / "venv", with_pip=True)
    subprocess.run([tmp_path / "venv/bin/pip", "install", "--quiet", wheel], check=True)
    prove(tmp_path / "venv/bin/sonde", tmp_path)
    code = f"import sonde; w = sonde.SummaryWriter({str(tmp_path / 'logs')!r}); w.add_scalar('a', 1, 1); w.close()"
    subprocess.run([tmp_path / "venv/bin/python", "-c", code], check=True, env=CLEAN)
    listed = subprocess.run([tmp_path / "venv/bin/python", "-m", "sonde", "inspect", tmp_path / "logs", "--json"], check=True, capture_output=True, text=True, env=CLEAN)
    assert json.loads(listed.stdout)["runs"]["."]


def test_sdist_builds(dist, tmp_path):
    environment = os.environ | {"CC": "cc", "CXX": "c++", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_NOHASHDIR": "1", "CCACHE_BASEDIR": tempfile.gettempdir()}
    venv.create(tmp_path / "venv", with_pip=True)
    subprocess.run([tmp_path / "venv/bin/pip", "install", "--quiet", one(dist, "sonde_board-*.tar.gz")], check=True, env=environment)
    said = subprocess.run([tmp_path / "venv/bin/sonde", "--version"], check=True, capture_output=True, text=True, env=CLEAN).stdout
    assert said.startswith(VERSION)


def test_bill_of_materials(dist):
    bom = json.loads(one(dist, "*.cdx.json").read_text())
    assert bom["bomFormat"] == "CycloneDX" and bom["metadata"]["component"]["version"] == VERSION
    parts = {c["name"]: c for c in bom["components"]}
    assert {"openssl", "sqlite", "svelte", "clsx", "libstdc++"} <= set(parts)
    assert all(c["version"] not in ("", "unknown") and c["licenses"] for c in parts.values())
    lock = json.loads((ROOT / "web/package-lock.json").read_text())
    assert parts["svelte"]["version"] == lock["packages"]["node_modules/svelte"]["version"]
