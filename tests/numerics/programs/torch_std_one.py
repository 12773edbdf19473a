"""Whitening by a batch's own deviation; the last batch has one row."""
import sys

import torch
from torch.utils.data import DataLoader, TensorDataset

import sonde.debug


class Whiten(torch.nn.Module):
    def forward(self, x):
        centre = x.mean(0)
        width = x.std(0)  # FAULT: std|var
        return (x - centre) / (width + 1e-5)


torch.manual_seed(0)
net = torch.nn.Sequential(Whiten(), torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
data = TensorDataset(torch.randn(17, 4), torch.randn(17, 1))
watch = sonde.debug.watch(net, opt, logdir=sys.argv[1], every=10)
for _ in range(2):
    for x, y in DataLoader(data, batch_size=4):
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
