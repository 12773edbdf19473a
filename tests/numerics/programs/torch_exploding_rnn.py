"""A recurrence whose weight has an eigenvalue far above one."""
import sys

import torch

import sonde.debug


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.eye(4) * 30)

    def forward(self, x):
        h = torch.zeros(x.shape[0], 4)
        for t in range(x.shape[1]):
            h = h @ self.weight + x[:, t]  # FAULT: mm
        return h


torch.manual_seed(6)
model = Recurrent()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1])
for _i in range(2):
    optimizer.zero_grad()
    model(torch.rand(3, 60, 4) + 1).mean().backward()
    optimizer.step()
