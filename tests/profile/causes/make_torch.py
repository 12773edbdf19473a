"""PyTorch programs that are slow for one known reason, and some that are not: make_torch.py [NAME ...]"""
import os
import tempfile
import time

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset

from recording import Clock, Programs, busy

program = Programs()
torch.set_num_threads(1)


class Rows(Dataset):
    def __init__(self, ms=0):
        self.ms = ms

    def __len__(self):
        return 4096

    def __getitem__(self, i):
        if self.ms:
            time.sleep(self.ms / 1e3)
        return torch.full((192,), float(i))


def layers(width=384):
    return nn.Sequential(nn.Linear(192, width), nn.Tanh(), nn.Linear(width, 8))


def updater(model):
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def update(x):
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss
    return update


def record(folder, step, clock=None, batches=None, steps=5, **options):
    clock = clock or Clock()
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=steps, repeat=1),
                 on_trace_ready=tensorboard_trace_handler(folder, worker_name='worker'), **options) as profiler:
        for i in range(steps + 2):
            if i >= 2:
                clock.step()
            if batches is not None:
                with clock.cause():
                    x = next(batches)
            else:
                x = None
            step(x, i)
            if i == steps + 1:
                clock.stop()
            profiler.step()
    return clock


X = torch.rand(96, 192)


@program()
def torch_slow_worker(folder):
    """A DataLoader with one worker that is too slow."""
    update, loader = updater(layers()), DataLoader(Rows(1.5), batch_size=12, num_workers=1)
    return record(folder, lambda x, i: update(x), batches=iter(loader))


@program()
def torch_norms_read(folder):
    """Every element of a small vector is read on its own (float), 400 a step."""
    clock, update, v = Clock(), updater(layers()), torch.rand(400)

    def step(x, i):
        update(X)
        with clock.cause():
            total = 0.0
            for k in range(400):
                total += float(v[k])
    return record(folder, step, clock, steps=3)


@program()
def torch_augment_traced(folder):
    """augment() in plain Python before each step; recorded with_stack."""
    clock, update = Clock(), updater(layers())

    def augment(x):
        with clock.cause():
            time.sleep(0.011)
        return x
    return record(folder, lambda x, i: update(augment(X)), clock, steps=4, with_stack=True)


@program()
def torch_save_every_third(folder):
    """torch.save after every third step; recorded with_stack."""
    clock, model, where = Clock(), layers(24000), tempfile.mkdtemp()
    update = updater(layers(2048))

    def step(x, i):
        update(X)
        if i % 3 == 2:
            with clock.cause():
                torch.save(model.state_dict(), os.path.join(where, 'weights.pt'))
    return record(folder, step, clock, steps=7, with_stack=True)


@program()
def torch_losses_kept(folder):
    """Outputs are kept in a list with their graph; memory recorded."""
    kept, model, clock = [], layers(1024), Clock()
    update = updater(model)

    def step(x, i):
        update(X)
        kept.append(model(X).sum())
    clock = record(folder, step, clock, steps=6, profile_memory=True)
    clock.facts['kept_mb_a_step'] = round(96 * 1024 * 4 / 1e6, 3)
    return clock


@program()
def torch_recurrent_cells(folder):
    """Forty small recurrent cells by hand."""
    w, u = torch.rand(24, 24, requires_grad=True), torch.rand(24, 24, requires_grad=True)
    x = torch.rand(4, 24)

    def step(_, i):
        h = torch.zeros(4, 24)
        for _ in range(40):
            h = torch.sigmoid(x @ w + h @ u)
        h.sum().backward()
    clock = record(folder, step, steps=3)
    clock.instead_of(0.1 * sum(clock.steps) / len(clock.steps))
    return clock


@program()
def torch_silent_python(folder):
    """Python after each step, without stacks."""
    clock, update = Clock(), updater(layers())

    def step(x, i):
        update(X)
        with clock.cause():
            busy(9)
    return record(folder, step, clock)


@program(tries=4)
def torch_healthy_images(folder):
    """Convolutions on a batch in memory."""
    model = nn.Sequential(nn.Conv2d(3, 24, 3), nn.ReLU(), nn.Conv2d(24, 24, 3), nn.ReLU())
    update, x = updater(model), torch.rand(16, 3, 48, 48)
    return record(folder, lambda _, i: update(x))


@program(tries=4)
def torch_healthy_traced(folder):
    """Large layers; recorded with_stack and with memory."""
    model = nn.Sequential(nn.Linear(192, 2048), nn.ReLU(), nn.Linear(2048, 192))
    update, x = updater(model), torch.rand(512, 192)
    return record(folder, lambda _, i: update(x), steps=4, with_stack=True, profile_memory=True)


program.main()
