#!/usr/bin/env python3
"""Plants faults of falling size in PyTorch's side and shows which level of `trireme compare` still finds them.

    tests/compare/smallest_change.py [--model M,M] [--fault F,F] [--jobs 2] [--program build/trireme]

For each network and fault it searches the smallest power of ten that some level finds, by bisection. A cell of the
table is that size, with the levels that find it. Needs a Python with PyTorch, as compare does.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEVELS = {"start-equal": "start", "op-equal": "op", "update-equal": "update", "step-equal": "step"}
DECAY = "sgd:lr=0.1,momentum=0.9,weight-decay=1e-4"
SIZES = [1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]

CIFAR = ["resnet20-cifar", "resnet56v2-cifar", "resnet110-cifar"]
MODELS = ["lenet5", "mnist-cnn"] + CIFAR

# Name: (what it is, file of peers/pytorch, line, line with {x} for the size, options of compare, networks).
FAULTS = {
    "loss-gradient": ("gradient of the loss × (1 + x)", "compare.py", "(loss / samples).backward()",
                      "((1 + {x}) * loss / samples).backward()", [], MODELS),
    "weight-decay": ("weight decay × (1 − x); 1: ignored", "compare.py", "    makers = {",
                     "    given['weight_decay'] *= 1 - {x}\n    makers = {", ["--optimizer", DECAY], MODELS),
    "decay-not-on-1d": ("weight decay of biases and norms × (1 − x)", "compare.py",
                        "    return makers[rule](parameters, **given)",
                        "    decay = given['weight_decay']\n"
                        "    return makers[rule]([{'params': [p], 'weight_decay': decay * (1 - {x} * (p.dim() == 1))}\n"
                        "                         for p in parameters], **given)", ["--optimizer", DECAY], MODELS),
    "momentum": ("momentum × (1 − x)", "compare.py", "    makers = {",
                 "    given['momentum'] *= 1 - {x}\n    makers = {", [], MODELS),
    "learning-rate": ("learning rate × (1 + x)", "compare.py", 'group["lr"] = lr', 'group["lr"] = lr * (1 + {x})', [],
                      MODELS),
    "penalty": ("gradient of the L2 penalty × (1 + x); 1: doubled", "compare.py", "            penalty.backward()",
                "            ((1 + {x}) * penalty).backward()", [], ["resnet56v2-cifar"]),
    "adam-eps": ("Adam's ε × (1 + x)", "compare.py", "    makers = {", "    given['eps'] *= 1 + {x}\n    makers = {",
                 ["--optimizer", "adam"], MODELS),
    "norm-eps": ("ε of batch norms × (1 + x)", "compare.py", "self.eps, self.momentum = norm.eps, norm.momentum",
                 "self.eps, self.momentum = norm.eps * (1 + {x}), norm.momentum", [], CIFAR),
    "norm-momentum": ("momentum of batch norms × (1 + x)", "compare.py",
                      "self.eps, self.momentum = norm.eps, norm.momentum",
                      "self.eps, self.momentum = norm.eps, norm.momentum * (1 + {x})", [], CIFAR),
    "pooled": ("pooled features × (1 + x)", "networks.py", "nn.functional.adaptive_avg_pool2d(x, 1)",
               "(1 + {x}) * nn.functional.adaptive_avg_pool2d(x, 1)", [], CIFAR),
    "gradients": ("all gradients × (1 + x) after backward", "compare.py",
                  "        gradients = {\"gradient.\" + name",
                  "        for _, p in self.trained():\n            p.grad *= 1 + {x}\n"
                  "        gradients = {\"gradient.\" + name", [], MODELS),
    "gradient-noise": ("random noise of x in all gradients", "compare.py",
                       "        gradients = {\"gradient.\" + name",
                       "        for _, p in self.trained():\n"
                       "            p.grad += {x} * p.grad.square().mean().sqrt() * torch.randn_like(p)\n"
                       "        gradients = {\"gradient.\" + name", [], MODELS),
    "labels": ("share x of the labels is random", "compare.py", '        samples = len(batch["target"])',
               '        samples = len(batch["target"])\n'
               '        batch = {**batch, "target": torch.where(torch.rand(batch["target"].shape) < {x},\n'
               '                                                (batch["target"] + 1) % 10, batch["target"])}', [], MODELS),
}


def compare(program, model, fault, size, steps, scratch):
    """The levels that fail, with what they say."""
    _, file, line, instead, options, _ = FAULTS[fault]
    peers = pathlib.Path(tempfile.mkdtemp(dir=scratch)) / "peers"
    shutil.copytree(ROOT / "peers", peers)
    script = peers / "pytorch" / file
    text = script.read_text()
    if line not in text:
        sys.exit(f"{file} has no line '{line}' any more")
    script.write_text(text.replace(line, instead.replace("{x}", repr(float(size)))))
    batch = "4" if model == "resnet110-cifar" else "8"
    done = subprocess.run([program, "compare", "--model", model, "--steps", str(steps), "--batch", batch, "--json",
                           "--levels", "op-equal,update-equal,step-equal", *options],
                          env={**os.environ, "TRIREME_PEERS": str(peers)}, capture_output=True, text=True, check=False)
    shutil.rmtree(peers.parent)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"compare of {model} with {fault} {size} failed: {done.stderr}")
    return {LEVELS[level["level"]]: level["summary"] for level in json.loads(done.stdout.splitlines()[-1])["levels"]
            if not level["passed"]}


def smallest(program, model, fault, steps, scratch):
    """The smallest size that is found, and by which levels."""
    found = None
    first, last = 0, len(SIZES)  # larger than SIZES[first] is found, SIZES[last] and smaller is not
    while first < last:
        middle = (first + last) // 2
        levels = compare(program, model, fault, SIZES[middle], steps, scratch)
        print(f"{model} {fault} {SIZES[middle]:g}: {levels or 'not found'}", file=sys.stderr, flush=True)
        if levels:
            found, first = (SIZES[middle], list(levels)), middle + 1
        else:
            last = middle
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model", default=",".join(MODELS))
    arguments.add_argument("--fault", default=",".join(FAULTS))
    arguments.add_argument("--steps", type=int, default=2)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--program", default=str(ROOT / "build" / "trireme"))
    given = arguments.parse_args()
    models, faults = given.model.split(","), given.fault.split(",")
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        cells = {(fault, model): pool.submit(smallest, given.program, model, fault, given.steps, scratch)
                 for fault in faults for model in models if model in FAULTS[fault][5]}
        print("| fault | " + " | ".join(models) + " |\n|---|" + "---|" * len(models))
        for fault in faults:
            row = []
            for model in models:
                found = cells[fault, model].result() if (fault, model) in cells else None
                row.append("" if (fault, model) not in cells else
                           f"{found[0]:g} ({', '.join(found[1])})" if found else "not found")
            print(f"| {FAULTS[fault][0]} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
