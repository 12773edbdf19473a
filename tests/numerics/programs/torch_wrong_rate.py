"""A learning rate of 1e6."""
import sys

import torch

import sonde.debug

torch.manual_seed(13)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e6)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=1)


def train_step(number):
    x = torch.randn(16, 8)
    optimizer.zero_grad()
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    loss.backward()
    optimizer.step()  # FAULT: weight
    return loss


for i in range(8):
    watch.step(train_step, i)
