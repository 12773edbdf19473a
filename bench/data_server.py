#!/usr/bin/env python3
"""TensorBoard's data server and Sonde as one, in the same run on the same logs: time to load, to list, to read.

    bench/data_server.py [--runs 20] [--tags 20] [--steps 5000] [--program build/release/sonde]

Needs tensorboard 2.21 with tensorboard_data_server, and grpcio. Prints one line a server and round; wall times on a busy machine
are upper bounds.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import grpc
import tensorboard_data_server
from tensorboard.data.proto import data_provider_pb2 as pb
from tensorboard.data.proto import data_provider_pb2_grpc

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import event_log  # noqa: E402


class Server:
    def __init__(self, program, logdir, scratch):
        self.port_file = Path(scratch) / f"port_{os.urandom(4).hex()}"
        self.begin = time.perf_counter()
        self.process = subprocess.Popen([program, f"--logdir={logdir}", "--reload=once", "--port=0", f"--port-file={self.port_file}", "--die-after-stdin",
                                         "--samples-per-plugin=scalars=1000"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
        while not (self.port_file.exists() and self.port_file.read_text().endswith("\n")):
            time.sleep(0.001)
        channel = grpc.insecure_channel(f"localhost:{int(self.port_file.read_text())}", [("grpc.max_receive_message_length", 1 << 28)])
        self.stub = data_provider_pb2_grpc.TensorBoardDataProviderStub(channel)

    def filtered(self, kind, points=None):
        request = kind()
        request.plugin_filter.plugin_name = "scalars"
        if points:
            request.downsample.num_points = points
        return request

    def measure(self, runs, tags, last_step):
        while True:  # until the last point of every series is there
            listed = self.stub.ListScalars(self.filtered(pb.ListScalarsRequest))
            steps = [tag.metadata.max_step for run in listed.runs for tag in run.tags]
            if len(steps) == runs * tags and min(steps) == last_step:
                break
            time.sleep(0.005)
        loaded = time.perf_counter() - self.begin
        begin = time.perf_counter()
        self.stub.ListScalars(self.filtered(pb.ListScalarsRequest))
        listed = time.perf_counter() - begin
        begin = time.perf_counter()
        answer = self.stub.ReadScalars(self.filtered(pb.ReadScalarsRequest, 1000))
        read = time.perf_counter() - begin
        points = sum(len(tag.data.step) for run in answer.runs for tag in run.tags)
        resident = next(line for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
        return loaded, listed, read, points, int(resident.split()[1]) // 1024

    def stop(self):
        self.process.stdin.close()
        self.process.wait(20)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--tags", type=int, default=20)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--program", default=str(ROOT / "build/release/sonde"))
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        values = [{f"tag{i}": math.sin(step * (i + 1) / 7) for i in range(args.tags)} for step in range(args.steps)]
        body = event_log.first(1.7e9) + b"".join(event_log.scalars(1.7e9 + step, step, one) for step, one in enumerate(values))
        for run in range(args.runs):
            folder = Path(scratch) / f"logs/run{run}"
            folder.mkdir(parents=True)
            (folder / "events.out.tfevents.1").write_bytes(body)
        print(f"{args.runs} runs x {args.tags} tags x {args.steps} steps, {args.runs * len(body) / 1e6:.0f} MB")
        print(f"{'':8}{'load s':>9}{'list ms':>9}{'read ms':>9}{'points':>9}{'MB':>7}")
        for _ in range(args.rounds):
            for name, program in (("rust", tensorboard_data_server.server_binary()), ("sonde", args.program)):
                server = Server(program, Path(scratch) / "logs", scratch)
                loaded, listed, read, points, memory = server.measure(args.runs, args.tags, args.steps - 1)
                server.stop()
                print(f"{name:8}{loaded:9.2f}{1e3 * listed:9.1f}{1e3 * read:9.1f}{points:9}{memory:7}", flush=True)


if __name__ == "__main__":
    main()
