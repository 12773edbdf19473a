"""Two processes; the second one divides by zero, both get the NaN with the gradients."""
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import sonde.debug


def work(rank, logdir):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[2] if len(sys.argv) > 2 else "29571")
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(rank)
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    watch = sonde.debug.watch(model, optimizer, logdir=logdir, every=2)

    def train_step(number):
        x = torch.rand(4, 4)
        weight = torch.zeros(4) if rank == 1 and number == 3 else torch.ones(4)
        optimizer.zero_grad()
        loss = (model(x).sum(1) * weight).sum() / weight.sum()  # FAULT: div
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        optimizer.step()
        return loss

    for i in range(6):
        if rank == 1 or i < 6:
            watch.step(train_step, i)
    watch.close()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, (sys.argv[1],), nprocs=2)
