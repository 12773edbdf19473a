"""PyTorch programs of the fifth batch, written before the rules mended for the fourth were scored: fifth_torch.py [NAME ...]"""
import os
import pickle
import tempfile
import threading
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset

from fourth_torch import X, Y, Job, train_loop
from recording import Clock, Programs, crunch, each_call_ms

program = Programs()


class Spectra(Dataset):
    """Rows that take `ms` each."""

    def __init__(self, ms):
        self.ms = ms

    def __len__(self):
        return 50000

    def transform(self, k):
        time.sleep(self.ms / 1e3)
        return torch.randn(200)

    def __getitem__(self, k):
        return self.transform(k), k % 10


class Stream(IterableDataset):
    def unpack(self):
        crunch(0.8)
        return torch.randn(200)

    def __iter__(self):
        k = 0
        while True:
            k += 1
            yield self.unpack(), k % 10


def from_loader(folder, loader, **options):
    clock, job, batches = Clock(), Job(), iter(loader)

    def one(k):
        with clock.cause():
            x, y = next(batches)
        job.update(x, y)
    return train_loop(folder, one, clock, **options)


@program(tries=2)
def torch5_two_slow_workers(folder):
    """Two workers, each row takes 3 ms."""
    return from_loader(folder, DataLoader(Spectra(3), batch_size=16, num_workers=2), active=8)


@program(tries=2)
def torch5_stream_traced(folder):
    """An iterable dataset in the training process; with_stack."""
    return from_loader(folder, DataLoader(Stream(), batch_size=12), active=4, with_stack=True)


@program(tries=2)
def torch5_syncs_file(folder):
    """A line is written and flushed to disk after each step; with_stack."""
    clock, job = Clock(), Job()
    with tempfile.TemporaryDirectory() as d, open(os.path.join(d, 'run.log'), 'w') as f:
        def emit_line(k):
            with clock.cause():
                for part in range(3):
                    f.write(f'{k} {part}\n' * 20)
                    f.flush()
                    os.fsync(f.fileno())
                time.sleep(0.004)

        def one(k):
            job.update(X, Y)
            emit_line(k)
        return train_loop(folder, one, clock, 5, with_stack=True)


@program(tries=2)
def torch5_validates_every_third(folder):
    """Held-out rows go through the net in every third step; with_stack."""
    clock, job = Clock(), Job()
    rows = torch.randn(1500, 200)

    def run_validation():
        with clock.cause(), torch.no_grad():
            return sum(job.model(rows).argmax(1).float().mean() for _ in range(4))

    def one(k):
        job.update(X, Y)
        if k % 3 == 1:
            run_validation()
    return train_loop(folder, one, clock, 9, with_stack=True)


@program(tries=2)
def torch5_row_losses(folder):
    """The loss is added up row by row in Python."""
    clock, job = Clock(), Job()

    def learn(by_row):
        job.optimizer.zero_grad()
        out = job.model(X[:120])
        if by_row:
            total = torch.zeros(())
            for k in range(120):
                total = total + (out[k] - 1).abs().sum()
        else:
            total = (out - 1).abs().sum()
        total.backward()
        job.optimizer.step()
    train_loop(folder, lambda k: learn(True), clock, 4)
    clock.instead_of(each_call_ms(lambda: learn(False)))
    return clock


@program(tries=2)
def torch5_reads_scores(folder):
    """250 scores are read one by one with float()."""
    clock, job = Clock(), Job()
    scores = torch.rand(250)

    def one(k):
        job.update(X, Y)
        with clock.cause():
            max(float(s) for s in scores)
    return train_loop(folder, one, clock, 5)


@program()
def torch5_cache_grows(folder):
    """Outputs are kept in a dictionary by step, with their graph; memory and stacks recorded."""
    clock, kept = Clock(), {}
    net = nn.Sequential(nn.Linear(200, 900), nn.Tanh(), nn.Linear(900, 10))
    job = Job(net, torch.optim.SGD(net.parameters(), 1e-3))

    def one(k):
        job.update(X, Y)
        kept[k] = net(X).mean()
    train_loop(folder, one, clock, 6, profile_memory=True, with_stack=True)
    clock.facts['kept_mb_a_step'] = round(192 * 900 * 4 / 1e6, 3)
    return clock


@program(tries=2)
def torch5_types_back_and_forth(folder):
    """A large batch is stored in 64 bits and converted in each step."""
    clock, job = Clock(), Job()
    stored = torch.randn(30000, 200, dtype=torch.float64)

    def one(k):
        with clock.cause():
            x = stored.float()
        job.update(x[:192], Y)
    return train_loop(folder, one, clock, 5)


@program(tries=2)
def torch5_waits_for_event(folder):
    """Something waits for a thread after each step; no stacks."""
    clock, job = Clock(), Job()

    def one(k):
        job.update(X, Y)
        with clock.cause():
            done = threading.Event()
            threading.Timer(0.009, done.set).start()
            done.wait()
    return train_loop(folder, one, clock, 6)


@program(tries=2)
def torch5_update_by_hand(folder):
    """Momentum is applied to 250 parameters in a loop of Python."""
    clock = Clock()
    parameters = [nn.Parameter(torch.randn(60)) for _ in range(250)]
    moments = [torch.zeros(60) for _ in parameters]
    net = nn.Linear(500, 500)
    for p in parameters:
        p.grad = torch.randn(60)

    def one(k):
        net(torch.randn(64, 500)).sum().backward()
        with clock.cause(), torch.no_grad():
            for p, m in zip(parameters, moments):
                m.mul_(0.9).add_(p.grad)
                p.sub_(m, alpha=1e-3)
    return train_loop(folder, one, clock, 4)


@program(tries=2)
def torch5_pickles_traced(folder):
    """The weights are pickled after each step; with_stack."""
    clock, job, big = Clock(), Job(), nn.Linear(1300, 1300)
    with tempfile.TemporaryDirectory() as d:
        def keep_copy():
            with clock.cause(), open(os.path.join(d, 'copy'), 'wb') as f:
                pickle.dump(big.state_dict(), f)

        def one(k):
            job.update(X, Y)
            keep_copy()
        return train_loop(folder, one, clock, 5, with_stack=True)


@program(tries=4)
def torch5_healthy_encoder(folder):
    """A layer of a transformer."""
    net = nn.Sequential(nn.TransformerEncoderLayer(128, 4, 512, batch_first=True), nn.Flatten(), nn.Linear(24 * 128, 10))
    job, x = Job(net), torch.randn(48, 24, 128)
    return train_loop(folder, lambda k: job.update(x, Y[:48]), Clock(), 5)


@program(tries=4)
def torch5_healthy_two_nets(folder):
    """Two nets learn from each other, gradients clipped; with_stack."""
    def made():
        return nn.Sequential(nn.Linear(600, 800), nn.ReLU(), nn.Linear(800, 600))
    one_net, other = made(), made()
    optimizer, x = torch.optim.SGD([*one_net.parameters(), *other.parameters()], 1e-3), torch.randn(256, 600)

    def one(k):
        optimizer.zero_grad()
        F.mse_loss(other(one_net(x)), x).backward()
        nn.utils.clip_grad_norm_(one_net.parameters(), 1.0)
        optimizer.step()
    return train_loop(folder, one, Clock(), 5, with_stack=True)


if __name__ == '__main__':
    program.main()
