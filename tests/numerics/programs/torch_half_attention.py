"""Attention scores in float16: the product of queries and keys passes 65504."""
import sys

import torch

import sonde.debug


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.query = torch.nn.Linear(64, 64, bias=False)
        self.key = torch.nn.Linear(64, 64, bias=False)

    def forward(self, x):
        query, key = self.query(x), self.key(x)
        scores = query.half() @ key.half().transpose(-1, -2)  # FAULT: mm
        return torch.softmax(scores.float() / 8, -1)


torch.manual_seed(4)
model = Attention()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=2)


def train_step(number):
    x = torch.randn(8, 64) * (400 if number == 6 else 1)
    optimizer.zero_grad()
    loss = (model(x) * torch.rand(8, 8)).sum()
    loss.backward()
    optimizer.step()
    return loss


for i in range(8):
    watch.step(train_step, i)
