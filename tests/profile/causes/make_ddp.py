"""PyTorch programs of two to four processes (gloo): make_ddp.py [NAME ...]

Each rank notes when its gradients are ready, on the clock of the machine that all share. How much later than the
others the last one is, is what they wait for it.
"""
import json
import os
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

from recording import Clock, Programs

program = Programs()
STEPS = 5


def worker(rank, world, folder, kind, port):
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), GLOO_SOCKET_IFNAME='lo')
    torch.set_num_threads(1)
    dist.init_process_group('gloo', rank=rank, world_size=world)
    torch.manual_seed(0)
    width = {'big': 4096}.get(kind, 256)
    model = nn.Sequential(nn.Linear(256, width), nn.ReLU(), nn.Linear(width, 256))
    model = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    rows = {'even': 4096, 'big': 4}.get(kind, 64)
    clock, x, ready = Clock(), torch.rand(rows, 256), []
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=STEPS, repeat=1),
                 on_trace_ready=tensorboard_trace_handler(folder, worker_name=f'worker{rank}')) as profiler:
        for i in range(STEPS + 2):
            if i >= 2:
                clock.step()
            optimizer.zero_grad()
            if kind == 'reads' and rank == 0:
                time.sleep(0.08)
            loss = model(x).square().mean()
            if kind == 'extra' and rank == 1:
                for _ in range(12):
                    torch.mm(torch.rand(700, 700), torch.rand(700, 700))
            ready.append(time.perf_counter())
            loss.backward()
            optimizer.step()
            if i == STEPS + 1:
                clock.stop()
            profiler.step()
    with open(os.path.join(folder, f'{rank}.json'), 'w') as f:
        json.dump([clock.steps, ready[2:]], f)
    dist.destroy_process_group()


def run(folder, world, kind):
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    mp.spawn(worker, args=(world, folder, kind, port), nprocs=world)
    ranks = []
    for rank in range(world):
        with open(os.path.join(folder, f'{rank}.json')) as f:
            ranks.append(json.load(f))
    clock = Clock()
    clock.steps = ranks[0][0]
    for k in range(STEPS):
        *_, before, last = sorted(r[1][k] for r in ranks)
        clock.caused.append(1e3 * (last - before))
    return clock


if __name__ == '__main__':
    @program()
    def ddp_rank0_reads(folder):
        """Three ranks; rank 0 waits 80 ms for its data in every step."""
        return run(folder, 3, 'reads')

    @program()
    def ddp_rank1_computes(folder):
        """Two ranks; rank 1 computes more."""
        return run(folder, 2, 'extra')

    @program()
    def ddp_large_gradients(folder):
        """Two ranks with little work and many parameters: the exchange is the step."""
        return run(folder, 2, 'big')

    @program(tries=4)
    def ddp_healthy(folder):
        """Two ranks with equal work."""
        return run(folder, 2, 'even')

    program.main()
