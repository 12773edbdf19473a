"""A model whose output is −∞ where a word is not allowed; the loss looks at allowed words only."""
import sys

import torch

import sonde.debug


class Speller(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(10, 16)
        self.rnn = torch.nn.GRU(16, 16, batch_first=True)
        self.out = torch.nn.Linear(16, 10)

    def forward(self, x):
        y, _ = self.rnn(self.words(x))
        logits = self.out(y)
        return logits.masked_fill(torch.arange(10) >= 8, float("-inf"))


torch.manual_seed(0)
model = Speller()
optimizer = torch.optim.Adam(model.parameters())
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=1)
for _ in range(10):
    x = torch.randint(0, 8, (4, 6))
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten()).backward()
    optimizer.step()
