"""A bias of -100 keeps a layer's units at zero for ever."""
import sys

import torch

import sonde.debug


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(8, 16)
        self.activation = torch.nn.ReLU()
        self.second = torch.nn.Linear(16, 1)
        torch.nn.init.constant_(self.first.bias, -100)

    def forward(self, x):
        x = self.first(x)
        x = self.activation(x)  # FAULT: activation
        return self.second(x)


torch.manual_seed(7)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=2)
for _i in range(10):
    optimizer.zero_grad()
    x = torch.randn(16, 8)
    (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
    optimizer.step()
