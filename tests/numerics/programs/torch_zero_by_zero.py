"""Rows are scaled by their own sum; one row is all zeros."""
import sys

import torch

import sonde.debug

torch.manual_seed(2)
model = torch.nn.Linear(6, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=3)


def scaled(x):
    return x / x.sum(1, keepdim=True)  # FAULT: div


def train_step(number):
    x = torch.rand(4, 6)
    if number == 7:
        x[2] = 0
    optimizer.zero_grad()
    loss = model(scaled(x)).pow(2).mean()
    loss.backward()
    optimizer.step()
    return loss


for i in range(10):
    watch.step(train_step, i)
