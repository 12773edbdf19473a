"""Adam without eps: a parameter whose gradient is zero becomes 0/0 in the update."""
import sys

import torch

import sonde.debug

torch.manual_seed(29)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
with torch.no_grad():
    model[0].bias[2] = -50.0
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=0.0)
sonde.debug.watch(model, optimizer, logdir=sys.argv[1])
for _ in range(4):
    x = torch.randn(8, 4)
    optimizer.zero_grad()
    loss = (model(x) - x.mean(1, keepdim=True)).abs().mean()
    loss.backward()
    optimizer.step()  # FAULT: addcdiv|div|0.weight|0.bias
