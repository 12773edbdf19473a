"""`sonde.spark`: Spark's tasks digest what one machine digests, to the last byte."""

import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/scale"))
import traces
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
        assert digests(tmp_path / "many") == digests(tmp_path / "one") and len(digests(tmp_path / "one")) == 6 * len(ranks)
        assert tables["steps"].select("rank").distinct().count() == len(ranks)
        worst = sonde_spark.stragglers(spark, str(tmp_path / "many")).first()
        assert worst["dur"] >= worst["median_dur"]
        with pytest.raises(RuntimeError, match="1 of 2 captures"):
            sonde_spark.digest(spark, [ranks[0], "/nothing.json"], str(tmp_path / "bad"), program=str(SONDE))
    finally:
        spark.stop()


def executors(parent):
    """The processes of Spark's executors below a process of ours."""
    parents, found = {}, []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
    for process in parents:
        above = process
        while above in parents and above != parent:
            above = parents[above]
        try:
            line = Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            continue
        if above == parent and b"CoarseGrainedExecutorBackend" in line and b"java" in line.split(b"\0")[0]:
            found.append(process)
    return found


def test_thousands_of_ranks_with_executors_killed(tmp_path):
    """Two executors in processes of their own, three of them killed: the merged numbers are those of one machine to the last bit."""
    from pyspark.sql import SparkSession

    count = int(os.environ.get("SONDE_RANKS", "4096"))
    ranks = [str(path) for path in traces.write(tmp_path / "captures", count)]
    one = subprocess.run([SONDE, "worker", *ranks, "--out", tmp_path / "one"], capture_output=True, text=True)
    assert one.returncode == 0, one.stderr
    home = Path(importlib.util.find_spec("pyspark").origin).parent
    os.environ |= {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "python")}
    spark = (SparkSession.builder.master("local-cluster[2,1,1024]").appName("sonde").config("spark.ui.enabled", "false")
             .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").config("spark.executor.memory", "512m")
             .config("spark.executor.cores", "1").config("spark.task.maxFailures", "20").config("spark.sql.shuffle.partitions", "4").getOrCreate())
    killed = []

    def kill():
        while len(killed) < 3 and not over.is_set():
            time.sleep(3)
            for process in [p for p in executors(os.getpid()) if p not in killed][:1]:
                os.kill(process, signal.SIGKILL)
                killed.append(process)

    over = threading.Event()
    try:
        module_ = module()
        import pyspark.cloudpickle

        sys.modules["sonde_spark"] = module_  # which the next line looks for
        pyspark.cloudpickle.register_pickle_by_value(module_)
        killer = threading.Thread(target=kill)
        killer.start()
        tables = module_.digest(spark, ranks, str(tmp_path / "many"), program=str(SONDE))
        over.set()
        killer.join()
        assert killed, "no executor was there to be killed"
        assert digests(tmp_path / "many") == digests(tmp_path / "one") and len(digests(tmp_path / "one")) == 6 * count
        sums = tables["steps"].selectExpr("count(*)", "sum(dur)", "sum(collectives)", "count(distinct rank)").first()
        alone = module_.tables(spark, str(tmp_path / "one"))["steps"].selectExpr("count(*)", "sum(dur)", "sum(collectives)", "count(distinct rank)").first()
        assert tuple(sums) == tuple(alone) and sums[3] == count
        worst = module_.stragglers(spark, str(tmp_path / "many")).collect()
        assert [row["rank"] for row in worst] and [tuple(row) for row in worst] == [
            tuple(row) for row in module_.stragglers(spark, str(tmp_path / "one")).collect()]
        print(f"{count} ranks, {len(killed)} executors killed")
    finally:
        over.set()
        spark.stop()
