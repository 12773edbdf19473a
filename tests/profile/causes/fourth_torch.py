"""PyTorch programs of the fourth batch, recorded before a rule was touched for them: fourth_torch.py [NAME ...]"""
import copy
import csv
import io
import json
import os
import random
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset, TensorDataset

from recording import Clock, Programs, crunch, each_call_ms

program = Programs()
torch.set_num_threads(1)
torch.manual_seed(4)


def train_loop(folder, one, clock, active=6, skip=3, **options):
    """The usual form: a schedule, a handler, profiler.step() at the end."""
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=max(skip - 1, 0), warmup=min(skip, 1), active=active, repeat=1),
                 on_trace_ready=tensorboard_trace_handler(folder, worker_name='main'), **options) as recorder:
        for k in range(skip + active):
            if k >= skip:
                clock.step()
            one(k)
            if k == skip + active - 1:
                clock.stop()
            recorder.step()
    return clock


class Encoder(nn.Module):
    def __init__(self, width=200, hidden=400, out=10):
        super().__init__()
        self.first, self.norm, self.last = nn.Linear(width, hidden), nn.LayerNorm(hidden), nn.Linear(hidden, out)

    def forward(self, x):
        return self.last(F.gelu(self.norm(self.first(x))))


class Job:
    def __init__(self, model=None, optimizer=None):
        self.model = model or Encoder()
        self.optimizer = optimizer or torch.optim.AdamW(self.model.parameters(), 1e-3)

    def update(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss


X, Y = torch.randn(192, 200), torch.randint(0, 10, (192,))


class Documents(Dataset):
    def __len__(self):
        return 100000

    def __getitem__(self, k):
        return k


def pad_documents(indices):
    time.sleep(0.018)
    return torch.randn(len(indices), 200), torch.randint(0, 10, (len(indices),))


def fed_by(folder, loader, **options):
    clock, job, batches = Clock(), Job(), iter(loader)

    def one(k):
        with clock.cause():
            x, y = next(batches)
        job.update(x, y)
    return train_loop(folder, one, clock, **options)


@program(tries=2)
def torch4_collate(folder):
    """collate_fn takes long, no workers."""
    return fed_by(folder, DataLoader(Documents(), batch_size=64, collate_fn=pad_documents))


@program(tries=2)
def torch4_collate_one_worker(folder):
    """collate_fn takes longer than the step, one worker."""
    return fed_by(folder, DataLoader(Documents(), batch_size=64, collate_fn=pad_documents, num_workers=1))


class Pictures(Dataset):
    def __init__(self):
        self.raw = bytes(range(256)) * 150

    def __len__(self):
        return 100000

    def read_pixels(self):
        return sum(self.raw * 4)

    def __getitem__(self, k):
        return torch.full((200,), float(self.read_pixels() % 5)), k % 10


@program(tries=2)
def torch4_pixels_traced(folder):
    """The dataset computes in Python; no workers, recorded with_stack."""
    return fed_by(folder, DataLoader(Pictures(), batch_size=16), active=4, with_stack=True)


@program(tries=2)
def torch4_csv_rows(folder):
    """A table of predictions is written as CSV after each step; recorded with_stack."""
    clock, job = Clock(), Job()

    def write_predictions(values):
        with clock.cause():
            out = io.StringIO()
            table = csv.writer(out)
            for _ in range(60):
                table.writerows([values] * 12)

    def one(k):
        job.update(X, Y)
        write_predictions(list(range(100)))
    return train_loop(folder, one, clock, 5, with_stack=True)


@program(tries=2)
def torch4_two_models(folder):
    """Generator and critic; the latent vectors are drawn by Python's random; recorded with_stack."""
    clock = Clock()
    maker, critic = nn.Sequential(nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 200)), nn.Sequential(nn.Linear(200, 256), nn.ReLU(), nn.Linear(256, 1))
    of_maker, of_critic = torch.optim.Adam(maker.parameters(), 1e-4), torch.optim.Adam(critic.parameters(), 1e-4)

    def draw_latents():
        with clock.cause():
            return torch.tensor([random.choices(range(-9, 9), k=32) for _ in range(192)], dtype=torch.float32)

    def one(k):
        made = maker(draw_latents())
        of_critic.zero_grad()
        (critic(made.detach()).mean() - critic(X).mean()).backward()
        of_critic.step()
        of_maker.zero_grad()
        (-critic(made).mean()).backward()
        of_maker.step()
    return train_loop(folder, one, clock, 5, with_stack=True)


@program(tries=2)
def torch4_cells_by_hand(folder):
    """A recurrent net written as a loop over 60 cells of a small batch."""
    clock, cell, head = Clock(), nn.LSTMCell(24, 32), nn.Linear(32, 1)
    whole = nn.LSTM(24, 32)
    x = torch.randn(60, 4, 24)

    def one(k):
        h = c = torch.zeros(4, 32)
        for t in range(60):
            h, c = cell(x[t], (h, c))
        head(h).sum().backward()
    train_loop(folder, one, clock, 4)
    clock.instead_of(each_call_ms(lambda: head(whole(x)[0][-1]).sum().backward()))
    return clock


@program(tries=2)
def torch4_clips_each(folder):
    """The norm of each of 160 gradients is read with item() before the optimizer."""
    clock = Clock()
    parameters = [nn.Parameter(torch.randn(40)) for _ in range(160)]
    optimizer = torch.optim.SGD(parameters, 1e-3)

    def one(k):
        optimizer.zero_grad()
        sum((p * p).sum() for p in parameters[:4]).backward()
        for p in parameters:
            if p.grad is None:
                p.grad = torch.ones(40)
        with clock.cause():
            for p in parameters:
                if p.grad.norm().item() > 100:
                    p.grad.mul_(0.1)
        optimizer.step()
    return train_loop(folder, one, clock, 4)


@program(tries=2)
def torch4_histograms_traced(folder):
    """Gradients of two batches are added up; histograms are written to TensorBoard in each step; with_stack."""
    from torch.utils.tensorboard import SummaryWriter
    clock, job = Clock(), Job()
    with tempfile.TemporaryDirectory() as d:
        writer = SummaryWriter(d)

        def one(k):
            for _ in (0, 1):
                F.cross_entropy(job.model(X), Y).backward()
            job.optimizer.step()
            job.optimizer.zero_grad()
            with clock.cause():
                for name, p in job.model.named_parameters():
                    writer.add_histogram(name, p, k)
        return train_loop(folder, one, clock, 4, with_stack=True)


@program(tries=2)
def torch4_saves_every_fifth(folder):
    """torch.save in every fifth step; no stacks."""
    clock, job, big = Clock(), Job(), nn.Linear(1400, 1400)
    with tempfile.TemporaryDirectory() as d:
        def one(k):
            job.update(X, Y)
            if k % 5 == 0:
                with clock.cause():
                    for part in range(4):
                        torch.save(big.state_dict(), os.path.join(d, f'{part}.pt'))
        return train_loop(folder, one, clock, 10)


@program(tries=2)
def torch4_first_step_loads(folder):
    """The first step reads a vocabulary; recorded from there, with_stack."""
    clock, job, known = Clock(), Job(), []

    def vocabulary():
        if not known:
            with clock.cause():
                crunch(300)
            known.append(1)

    def one(k):
        vocabulary()
        job.update(X, Y)
    return train_loop(folder, one, clock, 6, skip=0, with_stack=True)


@program(tries=2)
def torch4_adam_by_parameter(folder):
    """Adam with foreach=False over 240 small parameters."""
    clock = Clock()

    def made(**options):
        parameters = [nn.Parameter(torch.randn(50)) for _ in range(240)]
        for p in parameters:
            p.grad = torch.randn(50)
        return parameters, torch.optim.Adam(parameters, 1e-3, **options)
    _, optimizer = made(foreach=False)
    net = nn.Linear(400, 400)

    def one(k):
        net(torch.randn(64, 400)).sum().backward()
        with clock.cause():
            optimizer.step()
    return train_loop(folder, one, clock, 4)


@program(tries=2)
def torch4_json_between(folder):
    """A record of the run is turned into JSON after each step; no stacks."""
    clock, job = Clock(), Job()
    history = [{'step': k, 'values': [k * 0.5] * 12} for k in range(900)]

    def one(k):
        job.update(X, Y)
        with clock.cause():
            json.loads(json.dumps(history))
    return train_loop(folder, one, clock)


@program(tries=2)
def torch4_numpy_targets(folder):
    """Targets are made in NumPy of the model's outputs; with_stack."""
    import numpy as np
    clock, job = Clock(), Job()

    def smooth_targets(out):
        with clock.cause():
            a = np.sort(np.tile(out.numpy(), (120, 2)), axis=0)
            return torch.from_numpy(np.ascontiguousarray(a[:192, 0] > 0).astype('int64'))

    def one(k):
        with torch.no_grad():
            out = job.model(X)
        job.update(X, smooth_targets(out))
    return train_loop(folder, one, clock, 5, with_stack=True)


@program()
def torch4_activations_kept(folder):
    """A forward hook appends each layer's output to a list that nobody empties; memory recorded."""
    clock, kept = Clock(), []
    net = nn.Sequential(nn.Linear(200, 1200), nn.ReLU(), nn.Linear(1200, 10))
    net[0].register_forward_hook(lambda m, i, o: kept.append(o.detach().clone()))
    job = Job(net, torch.optim.SGD(net.parameters(), 1e-3))
    train_loop(folder, lambda k: job.update(X, Y), clock, 7, profile_memory=True)
    clock.facts['kept_mb_a_step'] = round(192 * 1200 * 4 / 1e6, 3)
    return clock


@program(tries=2)
def torch4_groups_scheduled(folder):
    """A scheduler computes the rates of 40 groups in Python; with_stack."""
    clock, job = Clock(), Job()
    groups = torch.optim.SGD([{'params': [nn.Parameter(torch.zeros(1))]} for _ in range(40)], 0.1)
    planned = torch.optim.lr_scheduler.LambdaLR(groups, [lambda e, k=k: 1 / sum(range(9000 + k)) for k in range(40)])

    def one(k):
        job.update(X, Y)
        with clock.cause():
            planned.step()
    return train_loop(folder, one, clock, 4, with_stack=True)


@program(tries=2)
def torch4_copies_model(folder):
    """An average of the weights is kept by copying the whole model in each step; no stacks."""
    clock = Clock()
    job = Job(nn.Sequential(nn.Linear(200, 1800), nn.ReLU(), nn.Linear(1800, 1800), nn.ReLU(), nn.Linear(1800, 10)), None)
    job.optimizer = torch.optim.SGD(job.model[4].parameters(), 1e-3)
    for p in job.model[2].parameters():
        p.requires_grad_(False)

    def one(k):
        job.update(X[:8], Y[:8])
        with clock.cause():
            for _ in range(4):
                copy.deepcopy(job.model)
    return train_loop(folder, one, clock, 5)


@program(tries=4)
def torch4_healthy_convolution(folder):
    """A small convolutional net on batches of a DataLoader over tensors."""
    net = nn.Sequential(nn.Conv2d(3, 24, 3), nn.ReLU(), nn.Conv2d(24, 24, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(384, 10))
    job, clock = Job(net), Clock()
    data = iter(DataLoader(TensorDataset(torch.randn(640, 3, 32, 32), torch.randint(0, 10, (640,))), batch_size=64))

    def one(k):
        job.update(*next(data))
    return train_loop(folder, one, clock, 5)


@program(tries=4)
def torch4_healthy_recurrent(folder):
    """nn.LSTM of a fair size; with_stack."""
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = nn.LSTM(64, 256, batch_first=True), nn.Linear(256, 10)

        def forward(self, x):
            return self.head(self.body(x)[0][:, -1])
    job, clock, x = Job(Reader()), Clock(), torch.randn(192, 24, 64)
    return train_loop(folder, lambda k: job.update(x, Y), clock, 4, with_stack=True)


if __name__ == '__main__':
    program.main()
