"""A batch of padding only: the mean over the unmasked places divides 0 by 0; the loss is a module of its own."""
import sys

import torch
from torch import nn

import sonde.debug


class MaskedLoss(nn.Module):
    def forward(self, out, target, mask):
        squares = (out - target) ** 2 * mask
        return squares.sum() / mask.sum()  # FAULT: div


torch.manual_seed(28)
model = nn.LSTM(4, 6, batch_first=True)
criterion = MaskedLoss()
optimizer = torch.optim.RMSprop(model.parameters())
sonde.debug.watch(model, optimizer, logdir=sys.argv[1])
for i in range(7):
    x = torch.randn(3, 5, 4)
    mask = torch.zeros(3, 5, 1) if i == 5 else torch.ones(3, 5, 1)
    out, _ = model(x)
    loss = criterion(out, torch.zeros_like(out), mask)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
