"""PyTorch programs of two to four processes of the seventh batch: seventh_ddp.py [NAME ...]"""
import json
import os
import socket
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

from recording import Clock, Programs

program = Programs()


def rows_of(kind, rank):
    if kind == 'even':
        return 1300
    if kind == 'uneven':
        return 1500 if rank == 0 else 150
    return 8 if kind == 'exchange' else 96


def extra(kind, rank, k, net, folder):
    """What a rank does before its forward pass."""
    if kind == 'loads' and rank == 2:
        time.sleep(0.09)
    if kind == 'saves' and rank == 0:
        torch.save(net.state_dict(), os.path.join(folder, 'model.pt'))
        torch.save(torch.zeros(6000000), os.path.join(folder, 'optimizer.pt'))
    if kind == 'every third' and rank == 1 and k % 3 == 0:
        time.sleep(0.22)
    if kind == 'metrics':
        value = torch.ones(1)
        for _ in range(40):
            dist.all_reduce(value)


def worker(rank, world, folder, kind, port, count):
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), GLOO_SOCKET_IFNAME='lo')
    torch.set_num_threads(1)
    dist.init_process_group('gloo', rank=rank, world_size=world)
    torch.manual_seed(7)
    hidden = 4500 if kind == 'exchange' else 900
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(448, hidden), nn.ReLU(), nn.Linear(hidden, 448)))
    ready, clock = [], Clock()

    def hook(state, bucket):
        if bucket.is_last():
            ready.append([time.perf_counter(), 0.0])
        work = default_hooks.allreduce_hook(state, bucket)

        def done(f):
            ready[-1][1] = time.perf_counter()
            return f.value()
        return work.then(done) if bucket.is_last() else work
    net.register_comm_hook(None, hook)
    optimizer, x, spent = torch.optim.SGD(net.parameters(), 0.01), torch.rand(rows_of(kind, rank), 448), []
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=count, repeat=1),
                 on_trace_ready=tensorboard_trace_handler(folder, worker_name=f'rank{rank}'), record_shapes=True) as profiler:
        for k in range(count + 2):
            if k >= 2:
                clock.step()
            start = time.perf_counter()
            extra(kind, rank, k, net, folder)
            spent.append(1e3 * (time.perf_counter() - start))
            optimizer.zero_grad()
            net(x).pow(2).mean().backward()
            optimizer.step()
            if k == count + 1:
                clock.stop()
            profiler.step()
    with open(os.path.join(folder, f'{rank}.json'), 'w') as f:
        json.dump([clock.steps, ready[2:], spent[2:]], f)
    dist.destroy_process_group()


def run(folder, world, kind, count=6):
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    mp.spawn(worker, args=(world, folder, kind, port, count), nprocs=world)
    ranks = []
    for rank in range(world):
        with open(os.path.join(folder, f'{rank}.json')) as f:
            ranks.append(json.load(f))
    clock = Clock()
    clock.steps = ranks[0][0]
    for k in range(count):
        *_, before, last = sorted(r[1][k][0] for r in ranks)
        cause = {'metrics': ranks[0][2][k], 'exchange': 1e3 * (max(r[1][k][1] for r in ranks) - last)}.get(kind, 1e3 * (last - before))
        clock.caused.append(cause)
    return clock


if __name__ == '__main__':
    @program()
    def ddp7_rank2_loads(folder):
        """Three ranks; rank 2 waits for its batch."""
        return run(folder, 3, 'loads')

    @program()
    def ddp7_rank0_saves(folder):
        """Two ranks; rank 0 saves in each step."""
        return run(folder, 2, 'saves')

    @program()
    def ddp7_rank0_more(folder):
        """Two ranks; rank 0 has ten times the rows."""
        return run(folder, 2, 'uneven')

    @program()
    def ddp7_rank1_every_third(folder):
        """Two ranks; rank 1 waits in every third step."""
        return run(folder, 2, 'every third', 9)

    @program()
    def ddp7_many_metrics(folder):
        """Two ranks add up 40 numbers one by one in each step."""
        return run(folder, 2, 'metrics', 4)

    @program()
    def ddp7_large_gradients(folder):
        """Two ranks with little to compute and gradients of 16 MB."""
        return run(folder, 2, 'exchange')

    @program(tries=4)
    def ddp7_even(folder):
        """Two ranks with equal batches."""
        return run(folder, 2, 'even')

    program.main()
