"""PyTorch programs of several processes of the second batch: second_ddp.py [NAME ...]

Each rank notes when it is ready to exchange, on the clock all share; how much later the last is than the one before it is
what they wait for it.
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
COUNT = 6


def publish(folder, k):
    with open(os.path.join(folder, f'note{k}'), 'w') as f:
        f.write(str(k))
    time.sleep(0.06)


def shuffle_shards(k):
    time.sleep(0.05)


def worker(rank, world, folder, kind, port):
    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port), GLOO_SOCKET_IFNAME='lo')
    torch.set_num_threads(1)
    dist.init_process_group('gloo', rank=rank, world_size=world)
    torch.manual_seed(1)
    wide = {'by_hand': 64}.get(kind, 192)
    net = nn.Sequential(nn.Linear(320, wide), nn.GELU(), *[nn.Linear(wide, wide) for _ in range({'by_hand': 10}.get(kind, 1))], nn.Linear(wide, 320))
    shared = net if kind == 'by_hand' else DistributedDataParallel(net)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)
    rows = torch.rand({'by_hand': 8}.get(kind, 48), 320)
    clock, ready = Clock(), []
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(skip_first=1, wait=0, warmup=1, active=COUNT, repeat=1),
                 on_trace_ready=tensorboard_trace_handler(folder, worker_name=f'rank{rank}'), with_stack=kind in ('publishes', 'loads')) as recorded:
        for k in range(COUNT + 2):
            if k >= 2:
                clock.step()
            if kind == 'loads' and rank == world - 1:
                shuffle_shards(k)
            if kind == 'turns' and rank == k % world:
                time.sleep(0.07)
            optimizer.zero_grad()
            error = (shared(rows) - rows).square().mean()
            ready.append(time.perf_counter())
            error.backward()
            if kind == 'by_hand':
                with clock.cause():
                    for p in net.parameters():
                        dist.all_reduce(p.grad)
            optimizer.step()
            if kind == 'publishes' and rank == 0:
                publish(folder, k)
            if k == COUNT + 1:
                clock.stop()
            recorded.step()
    with open(os.path.join(folder, f'{rank}.json'), 'w') as f:
        json.dump([clock.steps, clock.caused, ready[2:]], f)
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
    clock.caused = ranks[0][1]
    if kind != 'by_hand':
        clock.caused = []
        for k in range(COUNT):
            *_, before, last = sorted(r[2][k] for r in ranks)
            clock.caused.append(1e3 * (last - before))
    return clock


if __name__ == '__main__':
    @program()
    def ddp2_rank0_publishes(folder):
        """Two ranks; rank 0 writes a note after each step; recorded with_stack."""
        return run(folder, 2, 'publishes')

    @program()
    def ddp2_last_rank_loads(folder):
        """Four ranks; the last one is late with its data; recorded with_stack."""
        return run(folder, 4, 'loads')

    @program()
    def ddp2_turns(folder):
        """Three ranks; in each step another one is late."""
        return run(folder, 3, 'turns')

    @program()
    def ddp2_reduces_by_hand(folder):
        """Two ranks; every small gradient is reduced on its own."""
        return run(folder, 2, 'by_hand')

    program.main()
