"""A softmax by hand, without taking off the maximum."""
import sys

import torch

import sonde.debug


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = torch.nn.Linear(8, 8)

    def forward(self, x):
        scores = self.scores(x)
        weights = torch.exp(scores)  # FAULT: exp
        return weights / weights.sum(-1, keepdim=True)


torch.manual_seed(3)
model = Attention()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1])
for i in range(12):
    x = torch.randn(4, 8) * (4000 if i == 9 else 1)
    optimizer.zero_grad()
    loss = model(x).var()
    loss.backward()
    optimizer.step()
