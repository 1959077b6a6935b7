"""Runs a network with the rounding errors of another program, enlarged so that few runs show their effect.

Two correct programs add in different orders. That matters most at kinks: where the input of a ReLU is zero except for
rounding, or two values under a max-pool differ only by rounding, a gradient jumps. So a perturbed run
- adds noise to the outputs of convolutions and dense layers and to the gradients of all parameters, NOISE times
  float32's epsilon of each channel's size, and lets layers add their channels in another order;
- opens every ReLU whose input is within TIP epsilons of zero, or closes all of those: no jump that rounding could
  cause is missed;
- adds noise of that size to what goes into max-pools.
Exact zeros stay zero: black borders of images are not noise.
"""

import contextlib

import torch
from torch import nn

NOISE = 64
TIP = 256


def size_of(x):
    """The root mean square of each channel, in a shape that broadcasts."""
    others = [axis for axis in range(x.dim()) if axis != 1]
    return x.detach().square().mean(others, keepdim=True).sqrt()


def noise_for(x, epsilons):
    scale = epsilons * torch.finfo(x.dtype).eps * size_of(x)
    return scale * (torch.rand_like(x) - 0.5) * (x.detach() != 0)


class TippedRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, threshold):
        is_open = (x > threshold) & (x != 0)
        ctx.save_for_backward(is_open)
        return x.abs() * is_open  # a max-pool behind it must see what is open, too

    @staticmethod
    def backward(ctx, diff):
        (is_open,) = ctx.saved_tensors
        return diff * is_open, None


def perturbed_layer(module):
    def forward(x):
        weight = module.weight
        if getattr(module, "groups", 1) == 1:
            order = torch.randperm(x.shape[1])
            x, weight = x[:, order], weight[:, order]
        if isinstance(module, nn.Linear):
            y = nn.functional.linear(x, weight, module.bias)
        else:
            convolve = nn.functional.conv1d if isinstance(module, nn.Conv1d) else nn.functional.conv2d
            y = convolve(x, weight, module.bias, module.stride, module.padding, module.dilation, module.groups)
        return y + noise_for(y, NOISE)

    return forward


@contextlib.contextmanager
def perturbed(net, opens):
    """While it lasts, the network computes so; `opens`: ReLUs close to zero are open, else closed."""
    layers = [module for module in net.modules() if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Linear))]

    def relu(x, inplace=False):
        tip = TIP * torch.finfo(x.dtype).eps * size_of(x)
        return TippedRelu.apply(x, -tip if opens else tip)

    def noisy(pool):
        return lambda x, *args, **named: pool(x + noise_for(x, TIP), *args, **named)

    functional = nn.functional
    changes = [(torch, "relu", relu), (functional, "relu", relu),
               (functional, "max_pool1d", noisy(functional.max_pool1d)),
               (functional, "max_pool2d", noisy(functional.max_pool2d))]
    plain = [(owner, name, getattr(owner, name)) for owner, name, _ in changes]
    plain += [(module, "forward", module.forward) for module in layers]
    changes += [(module, "forward", perturbed_layer(module)) for module in layers]
    hooks = [parameter.register_hook(lambda diff: diff + noise_for(diff, NOISE)) for parameter in net.parameters()]
    try:
        for owner, name, instead in changes:
            setattr(owner, name, instead)
        yield
    finally:
        for hook in hooks:
            hook.remove()
        for owner, name, before in plain:
            setattr(owner, name, before)
