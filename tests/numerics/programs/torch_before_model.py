"""The features are scaled by their spread before the model sees them; one batch has none."""
import sys

import torch

import sonde.debug

torch.manual_seed(31)
model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=2)


def prepared(x):
    low, high = x.amin(0), x.amax(0)
    return (x - low) / (high - low)  # FAULT: div


for i in range(6):
    raw = torch.rand(10, 3)
    if i == 4:
        raw[:, 1] = 0.25
    x = prepared(raw)
    optimizer.zero_grad()
    loss = (model(x) - raw.sum(1, keepdim=True)).pow(2).mean()
    loss.backward()
    optimizer.step()
