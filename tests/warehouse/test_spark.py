"""`sonde.spark`: executors digest what one machine digests, to the last byte, also when one of them is killed on the way."""

import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import threading
import time
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


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    paths = []
    for i in range(24):
        source = CAPTURES / f"torch_gloo_2ranks.worker{i % 2}.pt.trace.json.gz"
        paths.append(str(folder / f"rank{i:04}.pt.trace.json.gz"))
        shutil.copy(source, paths[-1])
    return paths


def killer(stop):
    """Kills one executor some time after it has begun."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not stop.is_set():
        for line in subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout.splitlines():
            pid, _, command = line.strip().partition(" ")
            if "CoarseGrainedExecutorBackend" in command and f"sonde_spark_test_{os.getpid()}" in command:
                time.sleep(1)
                os.kill(int(pid), signal.SIGKILL)
                return True
        time.sleep(0.2)
    return False


def test_executors_give_what_one_machine_gives(ranks, tmp_path):
    from pyspark.sql import SparkSession

    one = subprocess.run([SONDE, "worker", *ranks, "--out", tmp_path / "one"], capture_output=True, text=True)
    assert one.returncode == 0, one.stderr
    spark = (SparkSession.builder.master("local-cluster[2,1,1024]").appName("sonde").config("spark.ui.enabled", "false")
             .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
             .config("spark.executor.extraJavaOptions", f"-Dsonde=sonde_spark_test_{os.getpid()}").getOrCreate())
    stop, killed = threading.Event(), []
    thread = threading.Thread(target=lambda: killed.append(killer(stop)))
    thread.start()
    try:
        sonde_spark = module()
        tables = sonde_spark.digest(spark, ranks, str(tmp_path / "many"), program=str(SONDE))
        stop.set()
        thread.join()
        assert killed == [True]
        assert digests(tmp_path / "many") == digests(tmp_path / "one") and len(digests(tmp_path / "one")) == 3 * len(ranks)
        assert tables["steps"].select("rank").distinct().count() == len(ranks)
        worst = sonde_spark.stragglers(spark, str(tmp_path / "many")).first()
        assert worst["dur"] >= worst["median_dur"]
        with pytest.raises(RuntimeError, match="1 of 2 captures"):
            sonde_spark.digest(spark, [ranks[0], "/nothing.json"], str(tmp_path / "bad"), program=str(SONDE))
    finally:
        stop.set()
        spark.stop()
