"""Captures of thousands of ranks, digested by Spark's executors and merged with Spark SQL.

    from pyspark.sql import SparkSession
    import sonde.spark

    spark = SparkSession.builder.getOrCreate()
    tables = sonde.spark.digest(spark, captures, "/shared/digests")
    tables["steps"].groupBy("rank").avg("dur").orderBy("avg(dur)", ascending=False).show()
    sonde.spark.stragglers(spark, "/shared/digests").show()

Each executor runs `sonde worker` on its captures; DIR must be a folder that all of them see. A task that is run twice writes
the same files again, so executors may be killed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

TABLES = ("steps", "ops", "collectives", "memory", "findings", "captures")


def _digest(captures: Iterable[str], out: str, program: str | None) -> Iterator[tuple[str, str]]:
    """(capture, what is wrong with it or "") for each."""
    if program is None:
        from . import _program

        program = _program.program()
    for capture in captures:
        run = subprocess.run([program, "worker", capture, "--out", out], capture_output=True, text=True, check=False)
        yield capture, "" if run.returncode == 0 else (run.stderr.strip() or f"sonde worker ended with {run.returncode}")


def digest(spark: Any, captures: Sequence[str], out: str, *, program: str | None = None, partitions: int | None = None) -> dict[str, Any]:
    """Digests captures on the executors; the tables as data frames. A capture that cannot be read is an error at the end, when all
    others are done."""
    # Many more tasks than cores, so that a killed one costs little, and not one a capture: a task costs as much as a small trace.
    many = 16 * spark.sparkContext.defaultParallelism
    tasks = spark.sparkContext.parallelize(list(captures), partitions or max(1, min(len(captures), many)))
    said = tasks.mapPartitions(lambda some: _digest(some, out, program)).collect()
    bad = [f"{capture}: {text}" for capture, text in said if text]
    if bad:
        raise RuntimeError(f"{len(bad)} of {len(said)} captures could not be digested: " + "; ".join(bad[:5]))
    return tables(spark, out)


def tables(spark: Any, out: str) -> dict[str, Any]:
    """The tables of a folder of digests, by name. Times are picoseconds."""
    return {name: spark.read.parquet(f"{out}/{name}") for name in TABLES}


def stragglers(spark: Any, out: str) -> Any:
    """For each step the slowest rank, how long it took and how long the median rank did, the worst first.

    Of ranks that took equally long the first by name is given, whichever executor read it.
    """
    steps = tables(spark, out)["steps"]
    steps.createOrReplaceTempView("sonde_steps")
    return spark.sql(
        "SELECT id AS step, min_by(rank, struct(-dur, rank)) AS rank, max(dur) AS dur, percentile(dur, 0.5) AS median_dur, "
        "max(dur) - percentile(dur, 0.5) AS lost FROM sonde_steps GROUP BY id ORDER BY lost DESC, step"
    )
