"""PyTorch's answers to the table of ops.

usage: torch_ops.py FOLDER

FOLDER/cases.json lists the cases in order; FOLDER/data.f64 holds, per case, src, weights and diff_dst as float64. For
each case FOLDER/torch.f64 gets the results in float64, the results in float32 (results: dst, then the gradients of
every src and weight that has one, statistics as sums over samples), and dst of inference in float64.
"""
import json
import math
import sys

import numpy
import torch
import torch.nn.functional as F


def conv(case, src, weights, training):
    op = F.conv1d if src[0].dim() == 3 else F.conv2d
    bias = weights[1] if len(weights) > 1 else None
    y = op(src[0], weights[0], bias, case["stride"], case["padding"], 1, case["groups"])
    return F.relu(y) if case["relu"] else y


def dense(case, src, weights, training):
    y = F.linear(src[0], weights[0], weights[1] if len(weights) > 1 else None)
    return F.relu(y) if case["relu"] else y


def max_pool(case, src, weights, training):
    op = F.max_pool1d if src[0].dim() == 3 else F.max_pool2d
    y = op(src[0], case["kernel"], case["stride"], case["padding"])
    return F.relu(y) if case["relu"] else y


def average_pool(case, src, weights, training):
    op = F.avg_pool1d if src[0].dim() == 3 else F.avg_pool2d
    return op(src[0], case["kernel"], case["stride"], case["padding"], count_include_pad=case["count_padding"])


def adaptive_average_pool(case, src, weights, training):
    op = F.adaptive_avg_pool1d if src[0].dim() == 3 else F.adaptive_avg_pool2d
    return op(src[0], case["out"])


def batch_norm(case, src, weights, training):
    # A momentum of 1 puts the batch's own statistics in place of the running ones.
    y = F.batch_norm(src[0], weights[2], weights[3], weights[0], weights[1], training, 1.0, case["epsilon"])
    if len(src) > 1:
        y = y + src[1]
    return F.relu(y) if case["relu"] else y


def rows(loss):
    return loss.reshape(loss.shape[0], -1).mean(1, keepdim=True)


OPS = {
    "conv": conv,
    "dense": dense,
    "max_pool": max_pool,
    "average_pool": average_pool,
    "adaptive_average_pool": adaptive_average_pool,
    "batch_norm": batch_norm,
    "relu": lambda c, s, w, t: F.relu(s[0]),
    "tanh": lambda c, s, w, t: torch.tanh(s[0]),
    "sigmoid": lambda c, s, w, t: torch.sigmoid(s[0]),
    "swish": lambda c, s, w, t: F.silu(s[0]),
    "add": lambda c, s, w, t: s[0] + s[1],
    "concat": lambda c, s, w, t: torch.cat(s, 1),
    "flatten": lambda c, s, w, t: torch.flatten(s[0], 1),
    "softmax_cross_entropy": lambda c, s, w, t: rows(F.cross_entropy(s[0], s[1][:, 0].long(), reduction="none")),
    "sigmoid_cross_entropy": lambda c, s, w, t: rows(
        F.binary_cross_entropy_with_logits(s[0], s[1], reduction="none")),
    "squared_error": lambda c, s, w, t: rows(F.mse_loss(s[0], s[1], reduction="none")),
}


class Data:
    def __init__(self, path):
        self.values = torch.from_numpy(numpy.fromfile(path, dtype=numpy.float64))
        self.used = 0

    def take(self, shape):
        count = math.prod(shape)
        self.used += count
        return self.values[self.used - count:self.used].reshape(shape)


def answer(case, src, weights, diff_dst, dtype, training):
    src = [t.to(dtype, copy=True) for t in src]
    weights = [t.to(dtype, copy=True) for t in weights]
    asked = [t for t, wanted in zip(src, case["diff_src"]) if wanted]
    asked += [t for t, statistic in zip(weights, case["statistic"]) if not statistic]
    for t in asked:
        t.requires_grad_(training)
    dst = OPS[case["op"]](case, src, weights, training)
    if list(dst.shape) != case["dst"]:
        raise ValueError(f"{case['name']}: torch's result is {list(dst.shape)}, not {case['dst']}")
    results = [dst.detach()]
    if training:
        dst.backward(diff_dst.to(dtype) if case["loss_scale"] is None else torch.full_like(dst, case["loss_scale"]))
        samples = src[0].shape[0]
        results += [t.grad for t, wanted in zip(src, case["diff_src"]) if wanted]
        results += [t * samples if s else t.grad for t, s in zip(weights, case["statistic"])]
    return [t.reshape(-1).to(torch.float64) for t in results]


def main():
    torch.set_num_threads(1)
    folder = sys.argv[1]
    with open(f"{folder}/cases.json") as file:
        cases = json.load(file)
    data = Data(f"{folder}/data.f64")
    results = []
    for case in cases:
        src = [data.take(shape) for shape in case["src"]]
        weights = [data.take(shape) for shape in case["weights"]]
        diff_dst = data.take(case["dst"])
        results += answer(case, src, weights, diff_dst, torch.float64, True)
        results += answer(case, src, weights, diff_dst, torch.float32, True)
        results += answer(case, src, weights, diff_dst, torch.float64, False)
    torch.cat(results).numpy().tofile(f"{folder}/torch.f64")


if __name__ == "__main__":
    main()
