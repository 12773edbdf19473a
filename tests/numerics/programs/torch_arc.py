"""An angle from a cosine that rounding pushed above 1."""
import sys

import torch
import torch.nn.functional as F

import sonde.debug


class Angles(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Linear(3, 3)

    def forward(self, a, b, temperature=1.0):
        a = F.normalize(self.body(a), dim=-1)
        cosine = (a * F.normalize(b, dim=-1)).sum(-1) * temperature
        return {"angle": torch.acos(cosine), "cosine": cosine}  # FAULT: acos


torch.manual_seed(26)
model = Angles()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
sonde.debug.watch(model, optimizer, logdir=sys.argv[1])
for i in range(6):
    optimizer.zero_grad()
    out = model(torch.randn(9, 3), torch.randn(9, 3), temperature=1.2 if i == 4 else 0.9)
    loss = out["angle"].mean()
    loss.backward()
    optimizer.step()
