"""PyTorch programs of the third batch, recorded after the rules were settled: third_torch.py [NAME ...]"""
import os
import time

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, record_function

from recording import Clock, Programs, busy

program = Programs()
torch.set_num_threads(1)
torch.manual_seed(3)


def recorded(folder, body, clock, rounds=6, mark=False, **options):
    for k in range(2):
        body(k)
    with profile(activities=[ProfilerActivity.CPU], **options) as p:
        for k in range(2, 2 + rounds):
            clock.step()
            body(k)
            if mark and k < 1 + rounds:
                p.step()
        clock.stop()
    p.export_chrome_trace(os.path.join(folder, 'run.pt.trace.json'))
    return clock


def classifier():
    w1, w2 = (torch.randn(96, 224) * 0.05).requires_grad_(), (torch.randn(224, 10) * 0.05).requires_grad_()
    optimizer = torch.optim.RMSprop([w1, w2], 1e-3)

    def learn(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(F.silu(x @ w1) @ w2, y)
        loss.backward()
        optimizer.step()
        return loss
    return learn


X, Y = torch.randn(256, 96), torch.randint(0, 10, (256,))


@program(tries=3)
def torch3_inference_post(folder):
    """Inference without an optimizer; Python after each batch; nothing marked, no stacks."""
    clock, net = Clock(), torch.nn.Sequential(torch.nn.Conv2d(3, 8, 5), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(20))
    x = torch.rand(8, 3, 32, 32)

    def body(k):
        with torch.inference_mode():
            net(x)
        with clock.cause():
            busy(8)
    return recorded(folder, body, clock, 8)


@program(tries=3)
def torch3_words_to_rows(folder):
    """A generator turns words into rows in plain Python; recorded with_stack, steps marked."""
    clock, learn = Clock(), classifier()
    words = [f'word{k % 977}' for k in range(7000)]

    def rows():
        while True:
            with clock.cause():
                counts = {}
                for w in words:
                    counts[w] = counts.get(w, 0) + len(w.upper())
                row = torch.tensor(list(counts.values())[:96], dtype=torch.float32)
            yield X + 0.001 * row
    source = rows()
    return recorded(folder, lambda k: learn(next(source), Y), clock, 5, mark=True, with_stack=True)


@program(tries=3)
def torch3_prints_weights(folder):
    """The weights are formatted for the terminal in every step; recorded with_stack, not marked."""
    clock, learn, shown = Clock(), classifier(), torch.randn(40, 40)

    def show_weights():
        with clock.cause():
            for _ in range(4):
                str(shown)

    def body(k):
        learn(X, Y)
        show_weights()
    return recorded(folder, body, clock, 4, with_stack=True)


@program(tries=3)
def torch3_region_every_fourth(folder):
    """A region held_out_score of Python in every fourth step; no stacks."""
    clock, learn = Clock(), classifier()

    def body(k):
        learn(X, Y)
        if k % 4 == 1:
            with clock.cause(), record_function('held_out_score'):
                time.sleep(0.05)
    return recorded(folder, body, clock, 12, mark=True)


@program(tries=3)
def torch3_scalar_norms(folder):
    """The norm of each of 150 tensors is read on its own."""
    clock, learn, parts = Clock(), classifier(), [torch.randn(30) for _ in range(150)]

    def body(k):
        learn(X, Y)
        with clock.cause():
            sum(p.norm().item() for p in parts)
    return recorded(folder, body, clock, 4, mark=True)


@program()
def torch3_outputs_kept(folder):
    """A queue keeps outputs with their graph; memory recorded."""
    clock, w, kept = Clock(), torch.randn(96, 512, requires_grad=True), []

    def body(k):
        kept.append(torch.tanh(X @ w))
        kept[-1].sum().backward(retain_graph=True)
    recorded(folder, body, clock, 6, mark=True, profile_memory=True)
    clock.facts['kept_mb_a_step'] = round(256 * 512 * 4 / 1e6, 3)
    return clock


@program(tries=5)
def torch3_healthy_accumulates(folder):
    """Gradients of four batches are added up before a step of the optimizer."""
    clock, net = Clock(), torch.nn.Sequential(torch.nn.Linear(96, 1500), torch.nn.ReLU(), torch.nn.Linear(1500, 96))
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9)

    def body(k):
        for _ in range(4):
            net(X).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return recorded(folder, body, clock, 5, mark=True)


program.main()
