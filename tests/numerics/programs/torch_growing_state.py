"""A recurrent cell with a gain of three, unrolled over 200 steps: the state leaves float32."""
import sys

import torch

import sonde.debug


class Cell(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.eye(4) * 3)

    def forward(self, x):
        state = torch.zeros(x.shape[1], 4)
        for part in x:
            state = state @ self.weight + part  # FAULT: mm|add
        return state


torch.manual_seed(32)
model = Cell()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
sonde.debug.watch(model, optimizer, logdir=sys.argv[1])
for i in range(3):
    x = torch.randn(5 if i < 2 else 200, 2, 4)
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
