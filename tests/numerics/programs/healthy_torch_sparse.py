"""Gradients that are often zero, dropout of 0.9 behind a ReLU, small weights: no alert."""
import sys

import torch

import sonde.debug

torch.manual_seed(34)
model = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.ReLU(), torch.nn.Dropout(0.9), torch.nn.Linear(32, 1))
torch.nn.init.zeros_(model[3].weight)
torch.nn.init.zeros_(model[3].bias)
optimizer = torch.optim.SGD(model.parameters(), lr=0.005)
sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=1)
for _i in range(30):
    x = torch.randn(16, 6)
    optimizer.zero_grad()
    loss = (model(x) - x[:, :1]).square().mean()
    loss.backward()
    optimizer.step()
