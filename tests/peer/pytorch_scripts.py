"""Checks what the scripts in peers/pytorch compute in their different ways. Started as pytorch_scripts.py PEERS."""

import os
import random
import sys

sys.path += [os.path.join(sys.argv[1], "pytorch"), os.path.join(sys.argv[1], "common")]
sys.argv[1:] = ["1"]  # threads, for step.py

import numpy  # noqa: E402
import torch  # noqa: E402

import input as pipeline  # noqa: E402
import networks  # noqa: E402
import step  # noqa: E402


def same(one, other, what):
    if not torch.equal(one, other):
        sys.exit(f"{what}: differ by {(one - other).abs().max().item()}")


def gradients(model, in_place):
    torch.manual_seed(3)
    networks.use_in_place(in_place)
    _, inputs, classes = networks.MODELS[model]
    net = networks.build(model)
    net.train()
    loss = torch.nn.functional.cross_entropy(net(*(torch.rand(2, *shape) for shape in inputs)), torch.tensor([0, 1]))
    (loss + networks.penalty(net)).backward()
    return [parameter.grad for parameter in net.parameters()]


def check_in_place():
    for model in ("lenet5", "mnist-cnn", "resnet20-cifar", "resnet50", "resnet56v2-cifar", "densenet40-12",
                  "redshift-cnn"):
        for one, other in zip(gradients(model, False), gradients(model, True)):
            same(one, other, f"{model}, gradients with activations in place")
    networks.use_in_place(False)


def check_pipelines():
    """Padded, cropped, mirrored and normalised: batches and copies as one sample after the other."""
    count, pad = 7, 2
    images = numpy.random.RandomState(1).randint(0, 256, (count, 3, 6, 5)).astype(numpy.uint8)
    targets = numpy.arange(count).astype(numpy.float32)
    mean, divisor = [100.0, 120.0, 90.0], [64.0, 32.0, 128.0]  # powers of two: x / d is x * (1 / d)
    torch.manual_seed(5)
    chosen, mirrored = torch.randperm(count), torch.rand(count) < 0.5
    top, left = torch.randint(2 * pad + 1, (count,)), torch.randint(2 * pad + 1, (count,))
    wanted = []
    for i in range(count):
        padded = numpy.pad(images[chosen[i]], ((0, 0), (pad, pad), (pad, pad)))
        image = padded[:, top[i]:top[i] + 6, left[i]:left[i] + 5]
        image = image[:, :, ::-1] if mirrored[i] else image
        wanted.append((image - numpy.reshape(mean, (3, 1, 1))) / numpy.reshape(divisor, (3, 1, 1)))
    wanted = torch.tensor(numpy.array(wanted), dtype=torch.float32)
    # A mirrored copy is cropped after it was mirrored: its columns count from the other side.
    from_right = torch.where(mirrored, 2 * pad - left, left)
    for copies in (False, True):
        batches = pipeline.Batches(images, targets, pad, True, mean, divisor, copies, False)
        same(batches.make(chosen, top, from_right if copies else left, mirrored), wanted, f"copies {copies}")
        drawn, labels = batches[chosen.tolist()]
        same(labels, chosen, "labels")
        if drawn.shape != wanted.shape or drawn.dtype != torch.float32:
            sys.exit(f"a batch is {drawn.dtype} {tuple(drawn.shape)}")
    random.seed(1)
    alone, _ = pipeline.Images(images, targets, 0, False, mean, divisor)[int(chosen[0])]
    whole = pipeline.Batches(images, targets, 0, False, mean, divisor, False, False)[chosen.tolist()][0]
    same(whole[0], alone, "a sample alone and in a batch")


def check_types():
    request = {"model": "lenet5", "inputs": [[3, 32, 32]], "classes": 10, "batch": 4, "layout": "nchw"}
    plain = step.Answers()
    if plain("prepare", dict(request))["parameters"] != 62006:
        sys.exit("lenet5 has other parameters")
    whole = step.Answers()
    answer = whole("prepare", {**request, "dtype": "bf16"})
    if "not_available" not in answer and {p.dtype for p in whole.step.net.parameters()} != {torch.bfloat16}:
        sys.exit("bf16 has other parameters")
    autocast = step.Answers()
    answer = autocast("prepare", {**request, "dtype": "bf16-autocast"})
    if "not_available" not in answer:
        with autocast.step.casting():
            seen = autocast.step.net(*autocast.step.inputs).dtype
        if seen != torch.bfloat16 or {p.dtype for p in autocast.step.net.parameters()} != {torch.float32}:
            sys.exit(f"autocast computes in {seen}")
    if not hasattr(torch, "compile"):
        answer = step.Answers()("prepare", {**request, "compiled": True})
        if "has no torch.compile" not in answer.get("not_available", ""):
            sys.exit(f"there is no torch.compile, but it answered {answer}")


check_in_place()
check_pipelines()
check_types()
