"""A compiled model, and a loss around it that divides by a norm of zero."""
import sys

import torch

import sonde.debug

torch.manual_seed(6)
body = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2, bias=False))
model = torch.compile(body, backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1])


def train(x):
    out = model(x)
    length = out.pow(2).sum(1, keepdim=True).sqrt()
    unit = out / length  # FAULT: div
    loss = (unit - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


for i in range(6):
    if i == 4:
        with torch.no_grad():
            body[0].bias.fill_(-100)
    watch.step(train, torch.randn(5, 4))
