"""One row of an embedding was NaN in the checkpoint; only the sixth batch looks it up."""
import sys

import torch

import sonde.debug


class Words(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(50, 8)
        self.out = torch.nn.Linear(8, 50)

    def forward(self, tokens):
        x = self.table(tokens)  # FAULT: table.weight
        return self.out(x)


torch.manual_seed(27)
model = Words()
state = model.state_dict()
state["table.weight"][41] = float("nan")
model.load_state_dict(state)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=3)
loss_function = torch.nn.CrossEntropyLoss()
for i in range(8):
    tokens = torch.randint(0, 40, (12,))
    if i == 5:
        tokens[3] = 41
    optimizer.zero_grad()
    loss_function(model(tokens), torch.roll(tokens, 1)).backward()
    optimizer.step()
