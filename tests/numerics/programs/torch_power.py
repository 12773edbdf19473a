"""A fractional power of what turns negative."""
import sys

import torch

import sonde.debug


class Curve(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(6))
        self.exponent = torch.nn.Parameter(torch.tensor(1.5))

    def forward(self, x):
        y = x * self.scale
        return torch.pow(y, self.exponent).sum(-1)  # FAULT: pow


torch.manual_seed(24)
model = Curve()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=10)


def train_step(x):
    optimizer.zero_grad()
    loss = (model(x) - 1).square().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


for i in range(30):
    x = torch.rand(8, 6) + 0.01
    if i == 23:
        x[2, 3] = -0.5
    train_step(x)
