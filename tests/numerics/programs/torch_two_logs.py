"""Binary cross entropy by hand: the sigmoid reaches 1."""
import sys

import torch

import sonde.debug

torch.manual_seed(2)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=1)
for i in range(7):
    x = torch.randn(6, 3) * (1 if i < 5 else 500)
    y = (x.sum(1, keepdim=True) > 0).float()
    p = torch.sigmoid(model(x))
    likelihood = y * torch.log(p) + (1 - y) * torch.log(1 - p)  # FAULT: log
    loss = -likelihood.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
