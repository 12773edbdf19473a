"""The cosine of a vector of zeros, in the loss, outside of the model and of any wrapper."""
import sys

import torch
from torch import nn

import sonde.debug


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 10), nn.GELU(), nn.Linear(10, 4))

    def forward(self, x):
        return self.net(x)


def similarity(a, b):
    top = (a * b).sum(-1)
    return top / (a.norm(dim=-1) * b.norm(dim=-1))  # FAULT: div


def main(logdir):
    torch.manual_seed(22)
    model = Encoder()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    sonde.debug.watch(model, optimizer, logdir=logdir, every=5)
    for epoch in range(2):
        for batch in range(5):
            x, target = torch.randn(7, 5), torch.randn(7, 4)
            if (epoch, batch) == (1, 2):
                target[4] = 0
            out = model(x)
            loss = 1 - similarity(out, target).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


main(sys.argv[1])
