"""Float16 with a loss scaler: the first scales are too large, the steps are skipped, as they should be."""
import sys

import torch

import sonde.debug

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40, growth_interval=1000)
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=2)
for _ in range(40):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = model(torch.randn(16, 8)).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
