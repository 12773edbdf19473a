"""Cross entropy by hand: log(1 - p) with a p that rounds to 1."""
import sys

import torch

import sonde.debug

torch.manual_seed(11)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=3)


def entropy(p, y):
    return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()  # FAULT: log


def train_step(number):
    x = torch.randn(6, 4) * (200 if number == 5 else 1)
    optimizer.zero_grad()
    loss = entropy(torch.sigmoid(model(x)), torch.zeros(6, 1))
    loss.backward()
    optimizer.step()
    return loss


for i in range(8):
    watch.step(train_step, i)
