"""A layer is initialised with a standard deviation of 1e25."""
import sys

import torch

import sonde.debug


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 32)
        self.second = torch.nn.Linear(32, 2)
        torch.nn.init.normal_(self.second.weight, std=1e25)

    def forward(self, x):
        x = torch.relu(self.first(x))
        x = self.second(x)
        return x * x  # FAULT: mul


torch.manual_seed(5)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1])
for _i in range(3):
    optimizer.zero_grad()
    model(torch.randn(4, 8)).mean().backward()
    optimizer.step()
