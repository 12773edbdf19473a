"""PyTorch programs of several processes of the third batch: third_ddp.py [NAME ...]"""
import json
import os
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.profiler import ProfilerActivity, profile

from recording import Clock, Programs

program = Programs()
ROUNDS = 6


def worker(rank, world, folder, kind, port):
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), GLOO_SOCKET_IFNAME='lo')
    torch.set_num_threads(1)
    dist.init_process_group('gloo', rank=rank, world_size=world)
    torch.manual_seed(5)
    net = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.SiLU(), torch.nn.Linear(128, 64)))
    optimizer = torch.optim.Adam(net.parameters(), 1e-3)
    rows, more = torch.rand(32, 64), torch.rand(600, 600)
    clock, ready = Clock(), []
    for k in range(ROUNDS + 2):
        if k == 2:
            dist.barrier()
            recorded = profile(activities=[ProfilerActivity.CPU])
            recorded.start()
        if k >= 2:
            clock.step()
        if kind == 'augments' and rank == 2:
            time.sleep(0.09)
        loss = net(rows).square().mean()
        if kind == 'scores' and rank == 0:
            for _ in range(10):
                torch.linalg.matrix_norm(more @ more)
        ready.append(time.perf_counter())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if 2 <= k < ROUNDS + 1:
            recorded.step()
    clock.stop()
    recorded.stop()
    recorded.export_chrome_trace(os.path.join(folder, f'rank{rank}.pt.trace.json'))
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
    for k in range(ROUNDS):
        *_, before, last = sorted(r[1][k] for r in ranks)
        clock.caused.append(1e3 * (last - before))
    return clock


if __name__ == '__main__':
    @program()
    def ddp3_rank0_scores(folder):
        """Two ranks; rank 0 computes a score in every step."""
        return run(folder, 2, 'scores')

    @program()
    def ddp3_rank2_augments(folder):
        """Three ranks; rank 2 waits for its data."""
        return run(folder, 3, 'augments')

    program.main()
