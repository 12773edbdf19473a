"""Runs the Spark tests and those of ClickHouse: against Debian's server (installed here) and the newest engine (chdb, in an environment of its own)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLACE = Path(os.environ.get("SONDE_VENV_WAREHOUSE", HERE.parent.parent / ".venv-warehouse"))

if not (PLACE / "bin/python").exists():
    subprocess.run([sys.executable, "-m", "venv", PLACE], check=True)
    subprocess.run([PLACE / "bin/pip", "install", "-q", "chdb", "pyspark", "pytest<10"], check=True)
missing = [package for package, program in (("clickhouse-server", "clickhouse-server"), ("default-jre-headless", "java")) if not shutil.which(program)]
if missing:
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing], check=True, stdout=subprocess.DEVNULL)
sys.exit(subprocess.run([PLACE / "bin/python", "-m", "pytest", "-q", HERE]).returncode)
