"""PyTorch programs of the sixth batch, written before the rules mended for the fifth were built: sixth_torch.py [NAME ...]"""
import logging
import os
import tempfile
import time

import torch
from torch import nn
from torch.profiler import record_function
from torch.utils.data import DataLoader, TensorDataset

from fourth_torch import X, Y, Job, train_loop
from recording import Clock, Programs, each_call_ms

program = Programs()


@program(tries=3)
def torch6_norms_in_numpy(folder):
    """collect_norms() copies every weight to NumPy and sorts it; with_stack."""
    import numpy as np
    clock, job = Clock(), Job()

    def collect_norms():
        with clock.cause():
            return [float(np.sort(np.tile(p.detach().numpy().ravel(), 3))[-1]) for p in job.model.parameters()]

    def one(k):
        job.update(X, Y)
        collect_norms()
    return train_loop(folder, one, clock, 5, with_stack=True)


class ByLength:
    """A batch sampler that looks at everything before it deals out a batch."""

    def __init__(self, clock):
        self.clock = clock

    def __len__(self):
        return 1000

    def __iter__(self):
        while True:
            time.sleep(0.012)
            yield list(range(64))


@program(tries=3)
def torch6_slow_sampler(folder):
    """The batch sampler of a DataLoader is slow."""
    clock, job = Clock(), Job()
    batches = iter(DataLoader(TensorDataset(torch.randn(64, 200), torch.randint(0, 10, (64,))), batch_sampler=ByLength(clock)))

    def one(k):
        with clock.cause():
            x, y = next(batches)
        job.update(x, y)
    return train_loop(folder, one, clock, 6)


@program(tries=3)
def torch6_gradient_hook(folder):
    """A hook of Python on a gradient waits; with_stack."""
    clock, job = Clock(), Job()

    def watch_gradient(g):
        with clock.cause():
            time.sleep(0.008)
    job.model.last.weight.register_hook(watch_gradient)
    return train_loop(folder, lambda k: job.update(X, Y), clock, 5, with_stack=True)


@program(tries=3)
def torch6_tests_every_fourth(folder):
    """Many test batches in every fourth step; no stacks."""
    clock, job = Clock(), Job()
    rows = torch.randn(800, 200)

    def one(k):
        job.update(X, Y)
        if k % 4 == 0:
            with clock.cause(), torch.no_grad():
                for _ in range(10):
                    job.model(rows).argmax(1)
    return train_loop(folder, one, clock, 12)


@program(tries=3)
def torch6_logging(folder):
    """The logging module writes a hundred lines in each step; with_stack."""
    clock, job = Clock(), Job()
    with tempfile.TemporaryDirectory() as d:
        log = logging.getLogger('run')
        log.setLevel(logging.INFO)
        log.propagate = False
        log.addHandler(logging.FileHandler(os.path.join(d, 'run.log')))

        def tell(k):
            with clock.cause():
                for i in range(100):
                    log.info('step %d layer %d', k, i)

        def one(k):
            job.update(X, Y)
            tell(k)
        return train_loop(folder, one, clock, 4, with_stack=True)


@program(tries=3)
def torch6_quota_region(folder):
    """A region wait_for_quota; no stacks."""
    clock, job = Clock(), Job()

    def one(k):
        with clock.cause(), record_function('wait_for_quota'):
            time.sleep(0.01)
        job.update(X, Y)
    return train_loop(folder, one, clock, 6)


@program(tries=3)
def torch6_one_by_one(folder):
    """Forty rows are trained on one by one."""
    clock, job = Clock(), Job(nn.Sequential(nn.Linear(200, 16), nn.ReLU(), nn.Linear(16, 10)))

    def one(k):
        for i in range(40):
            job.update(X[i:i + 1], Y[i:i + 1])
    train_loop(folder, one, clock, 3)
    clock.instead_of(each_call_ms(lambda: job.update(X[:40], Y[:40])))
    return clock


@program()
def torch6_history_kept(folder):
    """All outputs are kept on a list; memory recorded."""
    clock, kept = Clock(), []
    net = nn.Linear(200, 2000)
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)

    def one(k):
        optimizer.zero_grad()
        out = net(X)
        out.mean().backward()
        optimizer.step()
        kept.append(out.detach())
    train_loop(folder, one, clock, 6, profile_memory=True)
    clock.facts['kept_mb_a_step'] = round(192 * 2000 * 4 / 1e6, 3)
    return clock


@program(tries=5)
def torch6_healthy_block(folder):
    """A residual block with batch normalisation."""
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.n, self.head = nn.Conv2d(16, 32, 3, padding=1), nn.Conv2d(32, 16, 3, padding=1), nn.BatchNorm2d(32), nn.Linear(16, 10)

        def forward(self, x):
            return self.head((x + self.b(torch.relu(self.n(self.a(x))))).mean((2, 3)))
    job, x = Job(Block()), torch.randn(48, 16, 28, 28)
    return train_loop(folder, lambda k: job.update(x, Y[:48]), Clock(), 5)


if __name__ == '__main__':
    program.main()
