"""A plain loop, nothing wrapped: cross entropy by hand takes the log of a probability that rounds to zero."""
import sys

import torch

import sonde.debug

torch.manual_seed(21)
model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.ReLU(), torch.nn.Linear(12, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
sonde.debug.watch(model, optimizer, logdir=sys.argv[1])


def entropy(scores, labels):
    p = torch.exp(scores) / torch.exp(scores).sum(1, keepdim=True)
    picked = p.gather(1, labels[:, None])
    return -torch.log(picked).mean()  # FAULT: log


for number in range(12):
    x = torch.randn(16, 6) * (300.0 if number == 9 else 1.0)
    x = x.clamp(-150, 150)
    labels = torch.randint(0, 3, (16,))
    optimizer.zero_grad()
    loss = entropy(model(x).clamp(-80, 80), labels)
    loss.backward()
    optimizer.step()
