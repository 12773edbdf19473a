"""`sonde.spark`: Spark's tasks digest what one machine digests, to the last byte."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SONDE = Path(os.environ.get("SONDE_BINARY", ROOT / "build/release/sonde"))
CAPTURES = ROOT / "tests/data/profile"


def module():
    """python/sonde/spark.py alone: the package's native part is not needed."""
    spec = importlib.util.spec_from_file_location("sonde_spark", ROOT / "python/sonde/spark.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def digests(out):
    return {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(Path(out).rglob("*.parquet"))}


def test_spark_gives_what_one_machine_gives(tmp_path):
    from pyspark.sql import SparkSession

    ranks = []
    for i in range(8):
        ranks.append(str(tmp_path / f"rank{i:04}.pt.trace.json.gz"))
        shutil.copy(CAPTURES / f"torch_gloo_2ranks.worker{i % 2}.pt.trace.json.gz", ranks[-1])
    one = subprocess.run([SONDE, "worker", *ranks, "--out", tmp_path / "one"], capture_output=True, text=True)
    assert one.returncode == 0, one.stderr
    spark = (SparkSession.builder.master("local[2]").appName("sonde").config("spark.ui.enabled", "false")
             .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate())
    try:
        sonde_spark = module()
        tables = sonde_spark.digest(spark, ranks, str(tmp_path / "many"), program=str(SONDE))
        assert digests(tmp_path / "many") == digests(tmp_path / "one") and len(digests(tmp_path / "one")) == 3 * len(ranks)
        assert tables["steps"].select("rank").distinct().count() == len(ranks)
        worst = sonde_spark.stragglers(spark, str(tmp_path / "many")).first()
        assert worst["dur"] >= worst["median_dur"]
        with pytest.raises(RuntimeError, match="1 of 2 captures"):
            sonde_spark.digest(spark, [ranks[0], "/nothing.json"], str(tmp_path / "bad"), program=str(SONDE))
    finally:
        spark.stop()
