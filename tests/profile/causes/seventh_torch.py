"""PyTorch programs of the seventh batch, recorded before a rule was touched for them: seventh_torch.py [NAME ...]"""
import gc
import gzip
import json
import os
import random
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset

from recording import Clock, Programs, busy, each_call_ms

program = Programs()
torch.set_num_threads(1)
torch.manual_seed(7)
X = torch.rand(96, 288)


class Samples(Dataset):
    def __init__(self, make=None):
        self.make = make

    def __len__(self):
        return 100000

    def __getitem__(self, i):
        if self.make:
            self.make(i)
        return torch.rand(288)


def network():
    return nn.Sequential(nn.Linear(288, 576), nn.SiLU(), nn.Linear(576, 576), nn.SiLU(), nn.Linear(576, 4))


class Training:
    def __init__(self, model=None):
        self.model = model or network()
        self.optimizer = torch.optim.Adam(self.model.parameters(), 1e-3)

    def __call__(self, x):
        self.optimizer.zero_grad()
        loss = self.model(x).pow(2).mean()
        loss.backward()
        self.optimizer.step()
        return loss


def record(folder, step, loader=None, count=6, waits=False, clock=None, skip=3, **options):
    """step(batch, number); `waits`: the cause is the wait for a batch."""
    clock, batches = clock or Clock(), iter(loader) if loader is not None else None
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=max(skip - 2, 0), warmup=min(skip, 2), active=count, repeat=1),
                 on_trace_ready=tensorboard_trace_handler(folder, worker_name='run'), **options) as profiler:
        for k in range(count + skip):
            if k >= skip:
                clock.step()
            start = time.perf_counter()
            x = next(batches) if batches is not None else X
            if waits:
                clock.add(1e3 * (time.perf_counter() - start))
            step(x, k)
            if k == count + skip - 1:
                clock.stop()
            profiler.step()
    return clock


def trained(folder, after=None, before=None, every=1, **options):
    """The usual step with something `before` or `after` it, in every `every`th step."""
    clock, train = Clock(), Training()

    def step(x, k):
        if before:
            with clock.cause():
                x = before(x)
        loss = train(x)
        if after and k % every == every - 1:
            with clock.cause():
                after(train.model, loss)
    return record(folder, step, clock=clock, **options)


def join_rows(samples):
    return torch.tensor([[v * 2 for v in s.tolist()] for s in samples])


@program()
def torch7_collate_lists(folder):
    """collate_fn goes through Python lists; no workers."""
    train = Training()
    return record(folder, lambda x, k: train(x), DataLoader(Samples(), batch_size=48, collate_fn=join_rows), waits=True)


def wait_for_disk(i):
    time.sleep(0.004)


@program()
def torch7_workers_wait(folder):
    """Two workers read samples that take 4 ms each; with_stack."""
    train = Training()
    loader = DataLoader(Samples(wait_for_disk), batch_size=16, num_workers=2, persistent_workers=True)
    return record(folder, lambda x, k: train(x), loader, waits=True, with_stack=True)


def tokenize(i):
    sum(ord(c) for c in 'the quick brown fox ' * 400)


@program()
def torch7_tokenizes_inline(folder):
    """The dataset computes in Python in the training process; with_stack."""
    train = Training()
    return record(folder, lambda x, k: train(x), DataLoader(Samples(tokenize), batch_size=32), waits=True, with_stack=True, count=4)


@program()
def torch7_tolist_sums(folder):
    """The outputs become lists that Python sorts and sums; no stacks."""
    rows = torch.rand(400, 200)
    return trained(folder, after=lambda m, loss: sum(sorted(v for row in rows.tolist() for v in row)))


@program()
def torch7_asks_masks(folder):
    """300 elements of a mask are asked one by one in `if`."""
    mask = torch.rand(300) > 0.5
    return trained(folder, after=lambda m, loss: sum(1 for i in range(300) if mask[i]), count=5)


@program()
def torch7_thin_blocks(folder):
    """Sixty blocks of a normalisation and a layer of width 16."""
    blocks = nn.Sequential(*[nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 16), nn.ReLU()) for _ in range(60)])
    clock = Clock()

    def step(x, k):
        with clock.cause():
            blocks(x[:, :16]).sum().backward()
    return record(folder, step, count=4, clock=clock)


@program()
def torch7_total_kept(folder):
    """The losses are added up with their graphs; memory recorded."""
    model, total = network(), [0.0]
    train, x = Training(model), torch.rand(700, 288)
    sizes = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: sizes.append((t.data_ptr(), t.nbytes)) or t, lambda t: t):
        model(x).mean()

    def step(_, k):
        train(X)
        total[0] = total[0] + model(x).mean()
    clock = record(folder, step, profile_memory=True, with_stack=True)
    parameters = {p.data_ptr() for p in model.parameters()} | {x.data_ptr()}
    clock.facts['kept_mb_a_step'] = round(sum(dict(s for s in sizes if s[0] not in parameters).values()) / 1e6, 3)
    return clock


@program()
def torch7_logs_gradients(folder):
    """log_gradients() after each step; with_stack."""
    def log_gradients(model, loss):
        time.sleep(0.015)
    return trained(folder, after=log_gradients, with_stack=True, count=5)


@program()
def torch7_uploads(folder):
    """Something is sent after each step; no stacks."""
    return trained(folder, after=lambda m, loss: time.sleep(0.012))


@program()
def torch7_saves_every_third(folder):
    """torch.save of 16 MB in every third step; no stacks."""
    big = nn.Linear(2000, 2000)
    with tempfile.TemporaryDirectory() as d:
        return trained(folder, after=lambda m, loss: torch.save(big.state_dict(), f'{d}/m.pt'), every=3, count=9)


@program()
def torch7_validates_every_fifth(folder):
    """validation_pass() in every fifth step; with_stack."""
    rows = torch.rand(600, 288)

    def validation_pass(model, loss):
        with torch.no_grad():
            return [model(rows).mean() for _ in range(8)]
    return trained(folder, after=validation_pass, every=5, count=10, with_stack=True)


@program()
def torch7_collects_garbage(folder):
    """gc.collect() among many objects after each step; no stacks."""
    held = [{'a': [i], 'b': (i,)} for i in range(60000)]
    clock = trained(folder, after=lambda m, loss: gc.collect())
    del held
    return clock


@program()
def torch7_compresses(folder):
    """write_predictions() compresses the outputs with gzip after each step; with_stack."""
    rows = torch.rand(150, 288).numpy().tobytes()
    with tempfile.TemporaryDirectory() as d:
        def write_predictions(model, loss):
            with gzip.open(f'{d}/p.gz', 'wb') as f:
                f.write(rows)
        return trained(folder, after=write_predictions, count=5, with_stack=True)


@program()
def torch7_prints(folder):
    """Gradients are printed after each step; with_stack."""
    with open(os.devnull, 'w') as f:
        def show(model, loss):
            for p in model.parameters():
                print(p.grad, file=f)
        return trained(folder, after=show, count=3, with_stack=True)


@program()
def torch7_crops(folder):
    """random_crops() cuts each of 96 rows by itself before each step; with_stack."""
    wide = torch.rand(96, 400)

    def random_crops(x):
        rows = []
        for i in range(96):
            at = random.randrange(112)
            row = wide[i, at:at + 288]
            rows.append(row.flip(0) if random.random() < 0.5 else row * 1.1)
        return torch.stack(rows)
    return trained(folder, before=random_crops, count=3, with_stack=True)


@program()
def torch7_writes_json(folder):
    """json.dump of a history that is rewritten after each step; no stacks."""
    history = [{'step': i, 'loss': i * 0.5, 'rate': 0.1} for i in range(6000)]
    with tempfile.TemporaryDirectory() as d:
        def write(model, loss):
            with open(f'{d}/history.json', 'w') as f:
                json.dump(history, f)
        return trained(folder, after=write)


@program()
def torch7_recompiles(folder):
    """torch.compile for fixed shapes meets another number of rows in each step."""
    train = Training()
    compiled = torch.compile(train.model, dynamic=False, backend='aot_eager')
    train.model = compiled
    clock = record(folder, lambda x, k: train(x[:40 + k]), count=4, skip=2)
    clock.instead_of(each_call_ms(lambda: train(X[:42]), 5))
    return clock


@program()
def torch7_first_opens(folder):
    """The first step opens an index; recorded from there; no stacks."""
    clock, train = Clock(), Training()

    def step(x, k):
        if k == 0:
            with clock.cause():
                time.sleep(0.4)
        train(x)
    train(X)
    return record(folder, step, count=8, skip=0, clock=clock)


@program()
def torch7_counts_slowly(folder):
    """A meter object computes in Python between the backward pass and the optimizer; no stacks."""
    clock, model = Clock(), network()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)

    def step(x, k):
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        with clock.cause():
            busy(9)
        optimizer.step()
    return record(folder, step, clock=clock)


@program(tries=4)
def torch7_healthy_worker(folder):
    """One worker keeps up with a large step."""
    train = Training(nn.Sequential(nn.Linear(288, 1200), nn.ReLU(), nn.Linear(1200, 1200), nn.ReLU(), nn.Linear(1200, 4)))
    return record(folder, lambda x, k: train(x), DataLoader(Samples(), batch_size=192, num_workers=1))


@program(tries=4)
def torch7_healthy_gru(folder):
    """A GRU and a loss that is read."""
    class Reader(nn.Module):
        def __init__(self):
            super().__init__()
            self.gru, self.head = nn.GRU(160, 256, batch_first=True), nn.Linear(256, 4)

        def forward(self, x):
            return self.head(self.gru(x)[0][:, -1])
    train, x = Training(Reader()), torch.rand(64, 24, 160)
    return record(folder, lambda _, k: train(x).item(), count=5)


@program(tries=4)
def torch7_healthy_stack(folder):
    """Two convolutions with batch normalisation; with_stack."""
    net = nn.Sequential(nn.Conv2d(3, 24, 3), nn.BatchNorm2d(24), nn.ReLU(), nn.Conv2d(24, 24, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 4))
    train, x = Training(net), torch.rand(64, 3, 36, 36)
    return record(folder, lambda _, k: train(x), count=4, with_stack=True)


@program(tries=4)
def torch7_healthy_inference(folder):
    """Inference only, large layers."""
    net = nn.Sequential(nn.Linear(288, 1500), nn.GELU(), nn.Linear(1500, 1500), nn.GELU(), nn.Linear(1500, 10))
    x = torch.rand(256, 288)

    def step(_, k):
        with torch.inference_mode():
            F.softmax(net(x), -1)
    return record(folder, step)


if __name__ == '__main__':
    program.main()
