"""Gradients divided by their own norm, by hand, between the backward pass and the update; one of them is zero."""
import sys

import torch

import sonde.debug

torch.manual_seed(30)
model = torch.nn.Sequential(torch.nn.Linear(4, 6), torch.nn.ReLU(), torch.nn.Linear(6, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
sonde.debug.watch(model, optimizer, logdir=sys.argv[1])


def normalise(parameters):
    for parameter in parameters:
        parameter.grad = parameter.grad / parameter.grad.norm()  # FAULT: div


for i in range(5):
    x = torch.randn(8, 4)
    loss = model(x).square().mean() * (0.0 if i == 3 else 1.0)
    optimizer.zero_grad()
    loss.backward()
    normalise(model.parameters())
    optimizer.step()
