#!/usr/bin/env python3
"""Measures data-parallel training by two processes with one thread each, beside PyTorch's DistributedDataParallel over
gloo, for the networks whose speed is promised: `trireme bench train --peer pytorch --world 2`.

    bench/ddp.py --repeats 5
    bench/ddp.py --model resnet18 --json

All options go to `trireme bench train`, whose help explains them. docs/benchmarks.md says what is measured.
"""

import os
import sys

import runs

MODELS = "lenet5,resnet18,resnet50-cifar,densenet40-12,alexnet,resnet50"

if __name__ == "__main__":
    program = runs.program()
    os.execv(program, [program, "bench", "train", "--peer", "pytorch", "--world", "2", "--model", MODELS, *sys.argv[1:]])
