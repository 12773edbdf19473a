"""Infinity as a start value, a mask of -inf before a softmax in the loss, a log that is guarded: nothing is wrong."""
import sys

import torch

import sonde.debug

torch.manual_seed(33)
model = torch.nn.Linear(6, 6)
optimizer = torch.optim.Adam(model.parameters())
sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=2)
best = torch.tensor(float("inf"))
allowed = torch.eye(6, dtype=torch.bool) | (torch.rand(6, 6) > 0.5)
for _ in range(8):
    scores = model(torch.randn(6, 6)).masked_fill(~allowed, float("-inf"))
    loss = -torch.log(torch.softmax(scores, -1).diagonal().clamp(min=1e-9)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    best = torch.minimum(best, loss.detach())
