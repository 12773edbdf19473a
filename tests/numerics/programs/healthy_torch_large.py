"""Large but finite values, and a norm that is clipped."""
import sys

import torch

import sonde.debug

torch.manual_seed(3)
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
with sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=1):
    for _ in range(10):
        x = torch.randn(4, 8) * 1e3
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
