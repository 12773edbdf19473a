"""Many zeros, batch norm, dropout and a falling loss."""
import sys

import torch

import sonde.debug

torch.manual_seed(2)
model = torch.nn.Sequential(
    torch.nn.Linear(8, 32), torch.nn.BatchNorm1d(32), torch.nn.ReLU(), torch.nn.Dropout(0.9), torch.nn.Linear(32, 1)
)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
with sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=3):
    for _ in range(20):
        x = torch.randn(16, 8)
        optimizer.zero_grad()
        (model(x) - x.sum(1, keepdim=True)).pow(2).mean().backward()
        optimizer.step()
