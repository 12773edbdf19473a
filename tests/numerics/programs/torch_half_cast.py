"""Features are stored as float16 in a buffer; a large one does not fit."""
import sys

import torch

import sonde.debug


class Memory(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Linear(4, 4)
        self.head = torch.nn.Linear(4, 1)

    def forward(self, x):
        kept = self.embed(x).to(torch.float16)  # FAULT: to|cast|copy
        return self.head(kept.float())


torch.manual_seed(0)
model = Memory()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1])
for i in range(5):
    def step(x):
        optimizer.zero_grad()
        loss = model(x).abs().mean()
        loss.backward()
        optimizer.step()
        return loss

    watch.step(step, torch.randn(8, 4) * (1.0 if i < 3 else 3e5))
