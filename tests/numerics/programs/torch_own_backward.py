"""A function with a backward of its own that divides by what may be zero."""
import sys

import torch

import sonde.debug


class Root(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.clamp(min=0).sqrt()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad / (2 * y)  # FAULT: div


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(5, 5)
        self.b = torch.nn.Linear(5, 1)

    def forward(self, x):
        return self.b(Root.apply(self.a(x) + 4))


torch.manual_seed(4)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
sonde.debug.watch(net, opt, logdir=sys.argv[1])
for i in range(5):
    opt.zero_grad()
    net(torch.randn(3, 5) * (1 if i < 3 else 40)).square().mean().backward()
    opt.step()
