"""The distance of a point to itself: the root is fine, its slope is not."""
import sys

import torch

import sonde.debug

torch.manual_seed(10)
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=3)


def train_step(number):
    x = torch.randn(6, 4)
    optimizer.zero_grad()
    out = model(x)
    other = out.detach().clone() if number == 8 else torch.zeros(6, 4)
    distance = (out - other).pow(2).sum(1).sqrt()  # FAULT: sqrt
    loss = distance.mean()
    loss.backward()
    optimizer.step()
    return loss


for i in range(10):
    watch.step(train_step, i)
