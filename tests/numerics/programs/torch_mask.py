"""A mask of -inf that leaves one row without any place."""
import sys

import torch

import sonde.debug


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = torch.nn.Linear(8, 8)

    def forward(self, x, mask):
        scores = self.scores(x).masked_fill(mask, float("-inf"))
        return torch.softmax(scores, -1)  # FAULT: softmax


torch.manual_seed(9)
model = Attention()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=2)
for i in range(9):
    mask = torch.triu(torch.ones(8, 8, dtype=torch.bool), 1)
    if i == 5:
        mask[4] = True
    optimizer.zero_grad()
    (model(torch.randn(8, 8), mask) * torch.rand(8, 8)).sum().backward()
    optimizer.step()
