"""A contrastive loss by hand: exp of a similarity over a small temperature."""
import sys

import torch
import torch.nn.functional as F

import sonde.debug


def info_nce(a, b, temperature):
    similarity = a @ b.T / temperature
    weights = torch.exp(similarity)  # FAULT: exp
    positive = weights.diagonal()
    return -(positive / weights.sum(1)).log().mean()


torch.manual_seed(0)
encoder = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 8))
optimizer = torch.optim.AdamW(encoder.parameters(), lr=1e-3)
sonde.debug.watch(encoder, optimizer, logdir=sys.argv[1])
for i in range(8):
    x = torch.randn(12, 16)
    a, b = F.normalize(encoder(x), dim=1), F.normalize(encoder(x + 0.01 * torch.randn_like(x)), dim=1)
    loss = info_nce(a, b, 0.1 if i < 6 else 0.01)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
