"""PyTorch programs of the second batch, written before the rules they are used on: second_torch.py [NAME ...]

Loops of other forms than in make_torch.py: classes, while loops, generators; with and without a schedule, stacks, regions.
"""
import copy
import gc
import json
import os
import pickle
import tempfile
import threading
import time
import zlib

import numpy as np
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset, IterableDataset

from recording import Clock, Programs, busy

program = Programs()
torch.set_num_threads(1)


class Encoder(nn.Module):
    def __init__(self, features=160, hidden=320):
        super().__init__()
        self.inner = nn.GRUCell(features, hidden)
        self.outer = nn.Linear(hidden, features)

    def forward(self, rows):
        return self.outer(self.inner(rows))


class Trainer:
    """A loop that is an object; `before`, `after` are what a program adds to it."""

    def __init__(self, net=None, optimizer=torch.optim.Adam, rows=None):
        self.net = net or Encoder()
        self.optimizer = optimizer(self.net.parameters(), lr=1e-3)
        self.rows = rows if rows is not None else torch.rand(128, 160)
        self.clock, self.done = Clock(), 0

    def before(self):
        return self.rows

    def after(self, loss):
        pass

    def learn(self, rows):
        self.optimizer.zero_grad(set_to_none=True)
        loss = (self.net(rows) - rows).abs().mean()
        loss.backward()
        self.optimizer.step()
        return loss

    def one(self):
        self.after(self.learn(self.before()))
        self.done += 1

    def run(self, folder, steps=6, marked=True, **options):
        if not marked:
            self.one()
            with profile(activities=[ProfilerActivity.CPU], **options) as recorded:
                while self.done < steps + 1:
                    self.clock.step()
                    self.one()
                self.clock.stop()
            recorded.export_chrome_trace(os.path.join(folder, 'host.pt.trace.json'))
            return self.clock
        with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=0, warmup=2, active=steps, repeat=1),
                     on_trace_ready=tensorboard_trace_handler(folder, worker_name='node'), **options) as recorded:
            while self.done < steps + 2:
                if self.done >= 2:
                    self.clock.step()
                self.one()
                if self.done == steps + 2:
                    self.clock.stop()
                recorded.step()
        return self.clock


@program()
def torch2_mix_noise(folder):
    """numpy augmentation in a method, no schedule, recorded with_stack."""
    class Noisy(Trainer):
        def mix_noise(self):
            with self.clock.cause():
                noise = np.random.default_rng(0).normal(size=(700, 1000))
                np.sort(noise, axis=1)
                return self.rows + float(noise[0, 0])

        def before(self):
            return self.mix_noise()
    return Noisy().run(folder, 5, marked=False, with_stack=True)


@program()
def torch2_region_prepare(folder):
    """A region prepare_inputs around Python; no stacks."""
    class Prepared(Trainer):
        def before(self):
            with self.clock.cause(), record_function('prepare_inputs'):
                busy(13)
            return self.rows
    return Prepared().run(folder)


@program()
def torch2_history_json(folder):
    """The history is written as JSON after each step; recorded with_stack."""
    class Historian(Trainer):
        past = tuple({'loss': k / 7, 'rate': 0.1, 'tag': f'point {k}'} for k in range(5000))

        def append_history(self, loss):
            with self.clock.cause(), open(os.path.join(folder, 'history.txt'), 'w') as f:
                f.write(json.dumps(self.past))
                f.flush()
                os.fsync(f.fileno())

        def after(self, loss):
            self.append_history(loss)
    return Historian().run(folder, 5, with_stack=True)


@program()
def torch2_collects_garbage(folder):
    """gc.collect() after each step among many objects; recorded with_stack."""
    class Tidy(Trainer):
        heap = tuple({k: [k]} for k in range(120000))

        def after(self, loss):
            with self.clock.cause():
                gc.collect()
    return Tidy().run(folder, 5, with_stack=True)


class Zipped(IterableDataset):
    packed = zlib.compress(np.random.rand(40000).astype('f4').tobytes(), 6)

    def unzip(self):
        return np.frombuffer(zlib.decompress(self.packed), 'f4')[:160].copy()

    def __iter__(self):
        while True:
            yield torch.from_numpy(self.unzip())


class Pairs(Dataset):
    def __init__(self, ms):
        self.ms = ms

    def __len__(self):
        return 100000

    def __getitem__(self, k):
        if self.ms:
            time.sleep(self.ms / 1e3)
        return torch.full((160,), k / 1e5)


class Fed(Trainer):
    def feed(self, loader):
        self.source = iter(loader)
        return self

    def before(self):
        with self.clock.cause():
            return next(self.source)


@program()
def torch2_unzips_inline(folder):
    """An IterableDataset without workers that decompresses each sample; recorded with_stack."""
    return Fed().feed(DataLoader(Zipped(), batch_size=16)).run(folder, 4, with_stack=True)


@program()
def torch2_two_workers(folder):
    """Two workers that need 2.5 ms a sample; no stacks, no schedule."""
    trainer = Fed().feed(DataLoader(Pairs(2.5), batch_size=24, num_workers=2))
    for _ in range(3):
        trainer.one()
    trainer.done = 0
    return trainer.run(folder, 7, marked=False)


@program(tries=5)
def torch2_converts_types(folder):
    """A large batch is converted to double and back before each step."""
    class Converts(Trainer):
        stored = torch.rand(4000, 1000)

        def before(self):
            with self.clock.cause():
                return self.stored.double().half().float()[:128, :160]
    return Converts().run(folder, 5)


@program(tries=5)
def torch2_waits_for_lock(folder):
    """Another thread holds the lock the loop needs; recorded with_stack."""
    class Locked(Trainer):
        lock = threading.Lock()
        ending = False

        def hold(self):
            while not self.ending:
                with self.lock:
                    time.sleep(0.012)
                time.sleep(0.001)

        def publish_weights(self):
            with self.clock.cause(), self.lock:
                pass

        def after(self, loss):
            self.publish_weights()
    trainer = Locked()
    holder = threading.Thread(target=trainer.hold)
    holder.start()
    clock = trainer.run(folder, 6, with_stack=True)
    trainer.ending = True
    holder.join()
    return clock


@program()
def torch2_validates_every_third(folder):
    """A validation pass of eight batches after every third step; no stacks."""
    class Validates(Trainer):
        held_out = torch.rand(512, 160)

        def after(self, loss):
            if self.done % 3 == 1:
                with self.clock.cause(), torch.no_grad():
                    self.net.eval()
                    for _ in range(8):
                        self.net(self.held_out)
                    self.net.train()
    return Validates().run(folder, 9)


@program(tries=5)
def torch2_tiny_batch(folder):
    """Batches of two rows through forty thin layers."""
    net = nn.Sequential(*[m for _ in range(40) for m in (nn.Linear(12, 12), nn.ReLU())])
    rows = torch.rand(2, 12)
    trainer = Trainer(net, torch.optim.SGD, rows)
    clock = trainer.run(folder, 3)
    clock.instead_of(0.1 * sum(clock.steps) / len(clock.steps))
    return clock


@program()
def torch2_remembers_inputs(folder):
    """A dictionary keeps a copy of every batch; memory and stacks recorded."""
    class Remembers(Trainer):
        def __init__(self):
            super().__init__()
            self.seen = {}

        def after(self, loss):
            self.seen[self.done] = self.rows.repeat(8, 1)
    clock = Remembers().run(folder, 6, profile_memory=True, with_stack=True)
    clock.facts['kept_mb_a_step'] = round(8 * 128 * 160 * 4 / 1e6, 3)
    return clock


@program()
def torch2_optimizer_loop(folder):
    """Adam one parameter at a time (foreach=False) over 80 small parameters."""
    net = nn.Sequential(*[nn.Linear(8, 8) for _ in range(40)])

    def slow(parameters, lr):
        return torch.optim.Adam(parameters, lr=lr, foreach=False)
    trainer = Trainer(net, slow, torch.rand(64, 8))
    inner = trainer.optimizer.step

    def timed():
        with trainer.clock.cause():
            inner()
    trainer.optimizer.step = timed
    return trainer.run(folder, 3)


@program()
def torch2_pickles_copy(folder):
    """A deep copy of the model is pickled in every step; recorded with_stack, no schedule."""
    class Snapshots(Trainer):
        large = nn.Linear(1200, 1500)

        def snapshot(self):
            where = os.path.join(tempfile.gettempdir(), f'snapshot{os.getpid()}')
            with self.clock.cause(), open(where, 'wb') as f:
                pickle.dump(copy.deepcopy(self.large), f)

        def after(self, loss):
            self.snapshot()
    return Snapshots().run(folder, 4, marked=False, with_stack=True)


@program()
def torch2_unmarked_sleep(folder):
    """Python after each step, neither steps nor stacks recorded."""
    class Sleeps(Trainer):
        def after(self, loss):
            with self.clock.cause():
                time.sleep(0.016)
    return Sleeps().run(folder, 7, marked=False)


@program(tries=4)
def torch2_healthy_attention(folder):
    """A transformer layer on a batch in memory, with regions."""
    layer = nn.TransformerEncoderLayer(160, 4, 640, dropout=0.0, batch_first=True)

    class Regions(Trainer):
        def learn(self, rows):
            with record_function('learn'):
                return super().learn(rows)
    return Regions(layer, rows=torch.rand(16, 24, 160)).run(folder, 4)


@program(tries=4)
def torch2_healthy_loader(folder):
    """A worker that keeps up with a large step."""
    net = nn.Sequential(nn.Linear(160, 1600), nn.GELU(), nn.Linear(1600, 1600), nn.Linear(1600, 160))
    trainer = Fed(net, torch.optim.SGD).feed(DataLoader(Pairs(0), batch_size=192, num_workers=1, prefetch_factor=10))
    for _ in range(3):
        trainer.one()
    time.sleep(2)  # the worker gets ahead
    trainer.done = 0
    return trainer.run(folder, 5)


program.main()
