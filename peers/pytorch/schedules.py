"""Trireme's learning rate schedules by the schedulers of torch.optim."""

import warnings

import torch
from torch.optim import lr_scheduler


def parse(text):
    """The name and options of "name:option=value,..."."""
    name, _, rest = text.partition(":")
    return name, dict(option.split("=", 1) for option in rest.split(",") if option)


def fraction(text):
    return float(text.rstrip("%")) / (100 if text.endswith("%") else 1)


def make(optimizer, name, options, steps, steps_per_epoch, warm):
    """A scheduler that is stepped after each step; the first `warm` steps are multiplied by a factor elsewhere."""
    lr = optimizer.param_groups[0]["lr"]
    if name == "constant":
        return lr_scheduler.ConstantLR(optimizer, factor=1.0)
    if name == "step":
        drops = sorted((int(epoch), float(rate)) for epoch, rate in options.items())
        return lr_scheduler.LambdaLR(optimizer, lambda step: next(
            (rate / lr for epoch, rate in reversed(drops) if step // steps_per_epoch >= epoch), 1.0))
    if name == "cosine":
        cosine = lr_scheduler.CosineAnnealingLR(optimizer, max(1, steps - warm), float(options.get("min", 0)))
        if not warm:
            return cosine
        return lr_scheduler.SequentialLR(optimizer, [lr_scheduler.ConstantLR(optimizer, factor=1.0), cosine], [warm])
    if name == "onecycle":
        start, end = float(options.get("start", 25)), float(options.get("end", 1e4))
        return lr_scheduler.OneCycleLR(optimizer, float(options.get("peak", lr)), total_steps=steps,
                                       pct_start=fraction(options.get("warm", "30%")), div_factor=start,
                                       final_div_factor=end / start)
    raise ValueError(f"there is no schedule '{name}'")


def learning_rates(text, lr, steps, steps_per_epoch):
    name, options = parse(text)
    epochs = float(options.pop("warmup", 0))
    warm = int(options.pop("warmup-steps", 0)) or int(epochs * steps_per_epoch + 0.5)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=lr)
    rates = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # schedulers warn where no optimizer steps before them
        scheduler = make(optimizer, name, options, steps, steps_per_epoch, warm)
        for step in range(steps):
            rate = optimizer.param_groups[0]["lr"]
            rates.append(rate * (step + 1) / warm if step < warm else rate)
            if step + 1 < steps:
                scheduler.step()
    return rates
