"""A small GPT whose causal mask is a buffer of −∞; the fault is a length that reaches zero, behind it."""
import sys

import torch

import sonde.debug


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(8, 24)
        self.out = torch.nn.Linear(8, 8)
        self.register_buffer("mask", torch.full((6, 6), float("-inf")).triu(1))

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        weights = (q @ k.transpose(-1, -2) / 8**0.5 + self.mask).softmax(-1)
        return x + self.out(weights @ v)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.scale = 1.0

    def forward(self, x):
        y = self.block(x) * self.scale
        return y / y.norm(dim=-1, keepdim=True)  # FAULT: div


torch.manual_seed(7)
model = Model()
optimizer = torch.optim.Adam(model.parameters())
sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=3)
for i in range(7):
    model.scale = 0.0 if i == 5 else 1.0
    optimizer.zero_grad()
    model(torch.randn(2, 6, 8)).pow(3).sum().backward()
    optimizer.step()
