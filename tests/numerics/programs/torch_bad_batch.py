"""One batch of the data holds a NaN."""
import sys

import torch

import sonde.debug

torch.manual_seed(8)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=4)
data = torch.randn(10, 16, 8)
data[7, 3, 2] = float("nan")
for x in data:
    optimizer.zero_grad()
    y = model(x)  # FAULT: input
    y.pow(2).mean().backward()
    optimizer.step()
