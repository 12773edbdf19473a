"""A normalisation without eps meets a feature that is the same in the whole batch."""
import sys

import torch
from torch import nn

import sonde.debug


class Standardise(nn.Module):
    def forward(self, x):
        centred = x - x.mean(0)
        return centred / x.std(0)  # FAULT: div


torch.manual_seed(23)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), Standardise(), nn.Linear(8, 1))
with torch.no_grad():
    model[0].bias[5] = -1e3
optimizer = torch.optim.AdamW(model.parameters())
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1])
criterion = nn.MSELoss()
for _ in range(3):
    x = torch.randn(32, 4)
    optimizer.zero_grad()
    criterion(model(x), x[:, :1]).backward()
    optimizer.step()
