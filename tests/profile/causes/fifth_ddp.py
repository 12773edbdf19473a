"""PyTorch programs of two to four processes of the fifth batch: fifth_ddp.py [NAME ...]"""
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

from recording import Clock, Programs, crunch

program = Programs()
STEPS = 6


def worker(rank, world, folder, kind, port):
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), GLOO_SOCKET_IFNAME='lo')
    torch.set_num_threads(1)
    dist.init_process_group('gloo', rank=rank, world_size=world)
    torch.manual_seed(11)
    hidden = 3600 if kind == 'large' else 640
    net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(384, hidden), nn.Tanh(), nn.Linear(hidden, 384)))
    ready = []

    def hook(state, bucket):
        if bucket.is_last():
            ready.append([time.perf_counter(), 0.0])
        work = default_hooks.allreduce_hook(state, bucket)

        def done(f):
            ready[-1][1] = time.perf_counter()
            return f.value()
        return work.then(done) if bucket.is_last() else work
    net.register_comm_hook(None, hook)
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    rows = torch.rand({'large': 4, 'even': 1600, 'more': 1500 if rank == 3 else 60}.get(kind, 64), 384)
    clock = Clock()

    def mine():
        if kind == 'tokenises' and rank == 1:
            crunch(60)
        if kind == 'measures' and rank == 0:
            time.sleep(0.07)
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=STEPS, repeat=1), with_stack=kind == 'tokenises',
                 on_trace_ready=tensorboard_trace_handler(folder, worker_name=f'rank{rank}')) as recorder:
        for k in range(STEPS + 2):
            if k >= 2:
                clock.step()
            optimizer.zero_grad()
            loss = net(rows).square().mean()
            mine()
            loss.backward()
            optimizer.step()
            if k == STEPS + 1:
                clock.stop()
            recorder.step()
    with open(os.path.join(folder, f'{rank}.json'), 'w') as f:
        json.dump([clock.steps, ready[2:]], f)
    dist.destroy_process_group()


def run(folder, world, kind, exchange=False):
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
        *_, before, last = sorted(r[1][k][0] for r in ranks)
        exchanged = max(r[1][k][1] for r in ranks) - last
        clock.caused.append(1e3 * (exchanged if exchange else last - before))
    return clock


if __name__ == '__main__':
    @program()
    def ddp5_rank3_more(folder):
        """Four ranks; rank 3 has 25 times the rows."""
        return run(folder, 4, 'more')

    @program()
    def ddp5_rank1_tokenises(folder):
        """Two ranks; Python computes on rank 1; with_stack."""
        return run(folder, 2, 'tokenises')

    @program()
    def ddp5_rank0_measures(folder):
        """Three ranks; rank 0 waits for something between forward and backward."""
        return run(folder, 3, 'measures')

    @program()
    def ddp5_large(folder):
        """Two ranks with little to compute and gradients of 11 MB."""
        return run(folder, 2, 'large', exchange=True)

    program.main()
