"""PyTorch programs of two to four processes of the fourth batch: fourth_ddp.py [NAME ...]

Each rank notes when its last bucket of gradients is ready; how much later than all others the last one is, is the cause.
"""
import json
import os
import socket
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset

from recording import Clock, Programs, busy

program = Programs()
STEPS = 6


class Shard(Dataset):
    def __init__(self, ms):
        self.ms = ms

    def __len__(self):
        return 10000

    def __getitem__(self, k):
        time.sleep(self.ms / 1e3)
        return torch.rand(256)


def worker(rank, world, folder, kind, port):
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), GLOO_SOCKET_IFNAME='lo')
    torch.set_num_threads(1)
    dist.init_process_group('gloo', rank=rank, world_size=world)
    torch.manual_seed(7)
    if kind == 'buckets':
        net = nn.Sequential(*[nn.Linear(256, 256) for _ in range(24)])
    else:
        net = nn.Sequential(nn.Linear(256, 768), nn.GELU(), nn.Linear(768, 256))
    net = DistributedDataParallel(net, bucket_cap_mb=0.05 if kind == 'buckets' else 25)
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
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)
    rows = torch.rand({'even': 2048, 'buckets': 8}.get(kind, 48), 256)
    batches = iter(DataLoader(Shard(4 if rank == 0 else 0), batch_size=16)) if kind == 'loader' else None
    clock, target = Clock(), os.path.join(tempfile.mkdtemp(), 'last.pt')
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=STEPS, repeat=1), with_stack=kind == 'saves',
                 on_trace_ready=tensorboard_trace_handler(folder, worker_name=f'rank{rank}')) as recorder:
        for k in range(STEPS + 2):
            if k >= 2:
                clock.step()
            x = next(batches) if batches else rows
            if kind == 'counts' and rank == 2:
                busy(70)
            if kind == 'sometimes' and rank == 1 and k % 2 == 0:
                time.sleep(0.12)
            optimizer.zero_grad()
            net(x).square().mean().backward()
            optimizer.step()
            if kind == 'saves' and rank == 0:
                for _ in range(5):
                    torch.save({'net': net.module.state_dict(), 'moments': optimizer.state_dict()}, target)
            if k == STEPS + 1:
                clock.stop()
            recorder.step()
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
        *_, before, last = sorted(r[1][k][0] for r in ranks)
        exchanged = max(r[1][k][1] for r in ranks) - last
        clock.caused.append(1e3 * (last - before))
        clock.facts.setdefault('exchange_ms', []).append(round(1e3 * exchanged, 2))
    return clock


if __name__ == '__main__':
    @program()
    def ddp4_rank2_counts(folder):
        """Four ranks; Python computes on rank 2."""
        return run(folder, 4, 'counts')

    @program()
    def ddp4_rank0_loader(folder):
        """Two ranks; the DataLoader of rank 0 is slow."""
        return run(folder, 2, 'loader')

    @program()
    def ddp4_rank1_sometimes(folder):
        """Three ranks; rank 1 is late in every second step."""
        return run(folder, 3, 'sometimes')

    @program()
    def ddp4_small_buckets(folder):
        """Two ranks; 24 layers, each gradient in a bucket of its own."""
        return run(folder, 2, 'buckets')

    @program()
    def ddp4_rank0_saves(folder):
        """Two ranks; rank 0 writes checkpoints after each step; with_stack."""
        return run(folder, 2, 'saves')

    @program(tries=4)
    def ddp4_even(folder):
        """Two ranks, equal work."""
        return run(folder, 2, 'even')

    program.main()
