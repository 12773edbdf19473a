"""Attention of torch's own over a sentence that is all padding."""
import sys

import torch

import sonde.debug


class Reader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.words = torch.nn.Embedding(20, 16)
        self.attention = torch.nn.MultiheadAttention(16, 2, batch_first=True)
        self.head = torch.nn.Linear(16, 2)

    def forward(self, words):
        x = self.words(words)
        y, _ = self.attention(x, x, x, key_padding_mask=words == 0)  # FAULT: softmax|attention
        return self.head(y.mean(1))


torch.manual_seed(1)
model = Reader()
optimizer = torch.optim.Adam(model.parameters())
watch = sonde.debug.watch(model, optimizer, logdir=sys.argv[1], every=2)


def train(words, labels):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(words), labels)
    loss.backward()
    optimizer.step()
    return loss


for i in range(6):
    words = torch.randint(1, 20, (4, 7))
    if i == 4:
        words[2] = 0
    watch.step(train, words, torch.randint(0, 2, (4,)))
