"""A sum in float16 passes 65504 in the head of the model; the program returns a float, not a tensor."""
import sys

import torch

import sonde.debug


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)

    def forward(self, x):
        hidden = torch.relu(self.linear(x)).half()
        total = hidden.sum(1)  # FAULT: sum
        return (total - total.mean()).float()


torch.manual_seed(25)
model = Head()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=4)


def step(x):
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    return float(loss)


for i in range(10):
    watch.step(step, torch.rand(4, 16) * (60000.0 if i == 6 else 1.0))
