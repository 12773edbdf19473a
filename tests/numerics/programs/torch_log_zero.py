"""The log of a probability that a mask set to zero."""
import sys

import torch

import sonde.debug

torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4), torch.nn.Softmax(-1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=5)


def train_step(number):
    x = torch.randn(5, 8)
    optimizer.zero_grad()
    p = model(x)
    if number == 12:
        p = p * torch.tensor([0.0, 1, 1, 1])
    loss = -torch.log(p).mean()  # FAULT: log
    loss.backward()
    optimizer.step()
    return loss


for i in range(15):
    watch.step(train_step, i)
