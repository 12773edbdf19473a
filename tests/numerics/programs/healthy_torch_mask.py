"""A causal mask of -inf is no fault."""
import sys

import torch

import sonde.debug


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = torch.nn.Linear(8, 8)

    def forward(self, x):
        mask = torch.triu(torch.full((8, 8), float("-inf")), 1)
        return torch.softmax(self.scores(x) + mask, -1)


torch.manual_seed(1)
model = Attention()
optimizer = torch.optim.Adam(model.parameters())
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=2)


def train_step(number):
    optimizer.zero_grad()
    loss = (model(torch.randn(8, 8)) * torch.rand(8, 8)).sum()
    loss.backward()
    optimizer.step()
    return loss


for i in range(10):
    watch.step(train_step, i)
