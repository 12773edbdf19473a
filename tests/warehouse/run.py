"""Runs the ClickHouse tests: against Debian's server (installed here) and the newest engine (chdb, in an environment of its own)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLACE = Path(os.environ.get("SONDE_VENV_WAREHOUSE", HERE.parent.parent / ".venv-warehouse"))

if not (PLACE / "bin/python").exists():
    subprocess.run([sys.executable, "-m", "venv", PLACE], check=True)
    subprocess.run([PLACE / "bin/pip", "install", "-q", "chdb", "pytest<10"], check=True)
if not shutil.which("clickhouse-server"):
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "clickhouse-server"], check=True, stdout=subprocess.DEVNULL)
sys.exit(subprocess.run([PLACE / "bin/python", "-m", "pytest", "-q", HERE]).returncode)
