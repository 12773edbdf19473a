"""PyTorch programs of the eighth batch, written before the rules mended for the seventh were built: eighth_torch.py [NAME ...]"""
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

from recording import Clock, Programs, busy, each_call_ms
from seventh_torch import Samples, Training, X, record, trained

program = Programs()


def slow_sample(i):
    time.sleep(0.0008)


@program()
def torch8_iterator_anew(folder):
    """next(iter(loader)) in each step: the workers start again each time."""
    clock, train, loader = Clock(), Training(), DataLoader(Samples(), batch_size=32, num_workers=1)

    def step(_, k):
        with clock.cause():
            x = next(iter(loader))
        train(x)
    return record(folder, step, count=4, clock=clock)


@program()
def torch8_loader_traced(folder):
    """No workers; samples are read slowly; with_stack."""
    train = Training()
    return record(folder, lambda x, k: train(x), DataLoader(Samples(slow_sample), batch_size=24), waits=True, with_stack=True, count=4)


class Lines(IterableDataset):
    def __iter__(self):
        while True:
            busy(0.3)
            yield torch.rand(288)


@program()
def torch8_iterable(folder):
    """An IterableDataset that computes in the training process; no stacks."""
    train = Training()
    return record(folder, lambda x, k: train(x), DataLoader(Lines(), batch_size=48), waits=True)


@program()
def torch8_sample_by_sample(folder):
    """Each of 48 rows goes through the net by itself; the gradients are added up."""
    net, clock = nn.Sequential(nn.Linear(288, 24), nn.ReLU(), nn.Linear(24, 4)), Clock()
    train = Training(net)

    def step(x, k):
        train.optimizer.zero_grad()
        for i in range(48):
            net(x[i]).pow(2).mean().backward()
        train.optimizer.step()
    record(folder, step, count=3, clock=clock)
    clock.instead_of(each_call_ms(lambda: train(X[:48])))
    return clock


@program()
def torch8_saves_every_fourth(folder):
    """keep_best() saves 16 MB in every fourth step; with_stack."""
    big = nn.Linear(2000, 2000)
    with tempfile.TemporaryDirectory() as d:
        def keep_best(model, loss):
            torch.save(big.state_dict(), f'{d}/best.pt')
        return trained(folder, after=keep_best, every=4, count=8, with_stack=True)


@program()
def torch8_alerts_every_third(folder):
    """Something is sent in every third step; no stacks."""
    return trained(folder, after=lambda m, loss: time.sleep(0.03), every=3, count=9)


@program()
def torch8_every_second(folder):
    """test_pass() in every second step; with_stack."""
    rows = torch.rand(800, 288)

    def test_pass(model, loss):
        with torch.no_grad():
            return [model(rows).mean() for _ in range(4)]
    return trained(folder, after=test_pass, every=2, count=8, with_stack=True)


@program()
def torch8_gradients_kept(folder):
    """Copies of all gradients are kept; memory recorded, no stacks."""
    train, kept = Training(), []

    def step(x, k):
        train(x)
        kept.append([p.grad.clone() for p in train.model.parameters()])
    clock = record(folder, step, profile_memory=True)
    clock.facts['kept_mb_a_step'] = round(sum(p.numel() * 4 for p in train.model.parameters()) / 1e6, 3)
    return clock


@program()
def torch8_plots_between(folder):
    """draw_histogram() in Python before each step; with_stack."""
    def draw_histogram(x):
        counts = {}
        for v in x[:24].flatten().tolist():
            counts[round(v, 2)] = counts.get(round(v, 2), 0) + 1
        return x
    return trained(folder, before=draw_histogram, count=4, with_stack=True)


@program()
def torch8_norm_by_hand(folder):
    """A normalisation of many small operations in each of 30 layers."""
    layers, clock = nn.ModuleList(nn.Linear(32, 32) for _ in range(30)), Clock()

    def step(x, k):
        with clock.cause():
            h = x[:32, :32]
            for layer in layers:
                h = layer(h)
                m = h.mean(-1, keepdim=True)
                h = (h - m) / ((h - m).pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
            h.sum().backward()
    return record(folder, step, count=4, clock=clock)


@program()
def torch8_waits_in_forward(folder):
    """A layer of Python looks something up in a slow table; with_stack."""
    clock = Clock()

    class Lookup(nn.Module):
        def forward(self, x):
            with clock.cause():
                time.sleep(0.01)
            return x
    train = Training(nn.Sequential(nn.Linear(288, 576), Lookup(), nn.Linear(576, 4)))
    return record(folder, lambda x, k: train(x), clock=clock, with_stack=True, count=5)


@program(tries=4)
def torch8_healthy_memory(folder):
    """Memory and shapes recorded; nothing is kept."""
    train = Training(nn.Sequential(nn.Linear(288, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 4)))
    x = torch.rand(256, 288)
    return record(folder, lambda _, k: train(x), profile_memory=True, record_shapes=True)


@program(tries=4)
def torch8_healthy_embedding(folder):
    """An embedding, attention and a loss."""
    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.layer, self.head = nn.Embedding(800, 160), nn.TransformerEncoderLayer(160, 4, 320, batch_first=True), nn.Linear(160, 800)

        def forward(self, ids):
            return self.head(self.layer(self.table(ids)))
    net, ids = Tokens(), torch.randint(0, 800, (12, 48))
    optimizer = torch.optim.AdamW(net.parameters(), 1e-4)

    def step(_, k):
        optimizer.zero_grad()
        F.cross_entropy(net(ids).flatten(0, 1), ids.flatten()).backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    return record(folder, step, count=4)


@program(tries=4)
def torch8_healthy_accumulates(folder):
    """Two large batches before each step of the optimizer; with_stack."""
    net = nn.Sequential(nn.Linear(288, 1100), nn.Tanh(), nn.Linear(1100, 1100), nn.Tanh(), nn.Linear(1100, 4))
    optimizer, x = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9), torch.rand(192, 288)

    def step(_, k):
        optimizer.zero_grad()
        for _ in range(2):
            (net(x).pow(2).mean() / 2).backward()
        optimizer.step()
    return record(folder, step, count=5, with_stack=True)


if __name__ == '__main__':
    program.main()
