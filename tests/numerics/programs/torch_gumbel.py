"""Gumbel noise of a uniform number that is zero."""
import sys

import torch

import sonde.debug


def gumbel(shape, low):
    u = torch.rand(shape).clamp(max=0.5) - low
    inner = torch.log(u.clamp(min=0))  # FAULT: log
    return -torch.log(-inner)


class Sampler(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.logits = torch.nn.Linear(4, 6)
        self.low = 0.0

    def forward(self, x):
        scores = self.logits(x) + gumbel((x.shape[0], 6), self.low)
        return torch.softmax(scores, -1)


torch.manual_seed(5)
model = Sampler()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
sonde.debug.watch(model, optimizer, logdir=sys.argv[1])
for i in range(6):
    model.low = 0.0 if i < 4 else 0.6
    optimizer.zero_grad()
    (model(torch.randn(3, 4)) * torch.arange(6.0)).sum().backward()
    optimizer.step()
