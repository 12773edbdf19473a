#!/usr/bin/env python3
"""Writes a database as `nsys export --type sqlite` does, small: one process, one GPU, launches, kernels, NVTX, metrics."""

import argparse
import sqlite3
from pathlib import Path

PID = 4711
GLOBAL_PID = PID << 24
GLOBAL_TID = GLOBAL_PID | 4712
LONG = "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int, float)"
STRINGS = {1: "cudaLaunchKernel_v7000", 2: LONG, 3: "vectorized_elementwise_kernel", 4: "train", 5: "step",
           6: "cudaMemcpyAsync_v3020", 7: "ampere_sgemm_128x64_tn", 8: "cudaStreamSynchronize_v3020"}


def fill(db: sqlite3.Connection, steps: int) -> None:
    run = db.execute
    run("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
    db.executemany("INSERT INTO StringIds VALUES (?, ?)", STRINGS.items())
    run("CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER)")
    run("INSERT INTO ThreadNames VALUES (4, 1, ?)", (GLOBAL_TID,))
    run("CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, cuDevice INTEGER, computeMajor INTEGER, computeMinor INTEGER,"
        " smCount INTEGER, clockRate INTEGER, totalMemory INTEGER, memoryBandwidth INTEGER)")
    run("INSERT INTO TARGET_INFO_GPU VALUES (0, 'Made GPU', 0, 8, 0, 108, 1410000000, 42949672960, 1555200000000)")
    run("INSERT INTO TARGET_INFO_GPU VALUES (1, 'Idle GPU', 1, 8, 0, 108, 1410000000, 42949672960, 1555200000000)")
    run("CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER)")
    run("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000)")
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,"
        " nameId INTEGER)")
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
        " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER,"
        " gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, registersPerThread INTEGER,"
        " staticSharedMemory INTEGER, dynamicSharedMemory INTEGER)")
    run("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
        " correlationId INTEGER, globalPid INTEGER, copyKind INTEGER, bytes INTEGER)")
    run("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, globalTid INTEGER, eventType INTEGER, text TEXT,"
        " textId INTEGER)")
    run("CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, metricId INTEGER, metricName TEXT)")
    run("INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 1, 'SMs Active [%]'), (256, 2, 'DRAM Read [%]')")
    run("CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER)")
    correlation = 100
    for step in range(steps):
        at = 1_000_000 + step * 400_000
        run("INSERT INTO NVTX_EVENTS VALUES (?, ?, ?, 59, NULL, 5)", (at, at + 380_000, GLOBAL_TID))
        run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 6)", (at + 2000, at + 6000, GLOBAL_TID, correlation))
        run("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, 0, 7, ?, ?, 1, 1048576)",
            (at + 8000, at + 30_000, correlation, GLOBAL_PID))
        correlation += 1
        for k in range(5):
            begin = at + 40_000 + k * 60_000
            run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 1)",
                (begin - 9000, begin - 4000, GLOBAL_TID, correlation))
            run("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, ?, ?, ?, 16, 1, 1, 256, 1, 1, 32, 0, 1024)",
                (begin, begin + 50_000, correlation, GLOBAL_PID, 2 if k % 2 else 7, 3 if k % 2 else 7))
            correlation += 1
        run("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 8)",
            (at + 280_000, at + 332_000, GLOBAL_TID, correlation))
        correlation += 1
        for m in range(20):
            time = at + m * 20_000
            run("INSERT INTO GPU_METRICS VALUES (?, 256, 1, ?)", (time, 20 + 4 * m))
            run("INSERT INTO GPU_METRICS VALUES (?, 256, 2, ?)", (time, 50 - m))
    db.commit()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--page", type=int, default=4096, help="bytes of a page of the database")
    args = parser.parse_args()
    args.path.unlink(missing_ok=True)
    with sqlite3.connect(args.path) as db:
        db.execute(f"PRAGMA page_size = {args.page}")
        fill(db, args.steps)
    db.close()


if __name__ == "__main__":
    main()
