#!/usr/bin/env python3
"""Runs `trireme compare` with random settings: correct code must pass them all.

    tests/compare/random_settings.py [--count 200] [--seed 1] [--jobs 2] [--program build/trireme]

Models, batches, oars, optimizers, initial weights, augmentations, schedules and seeds follow from --seed. Prints
the settings that failed, with exit code 1 if there are any.
"""

import argparse
import concurrent.futures
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The larger ones are rarer and run with few samples.
MODELS = {"lenet5": (6, 48), "mnist-cnn": (6, 32), "redshift-cnn": (4, 16), "resnet20-cifar": (5, 16),
          "densenet40-12": (2, 8), "resnet56v2-cifar": (1, 6), "resnet32-cifar": (2, 8), "resnet18": (1, 8),
          "resnet56-cifar": (1, 6), "resnet110-cifar": (1, 4)}
OPTIMIZERS = ["sgd:lr=0.01,momentum=0.9", "sgd:lr=0.1,weight-decay=1e-4", "sgd:lr=0.05,momentum=0.9,nesterov=yes",
              "sgd:lr=0.1,momentum=0.9,weight-decay=1e-4", "adam", "adam:lr=0.01,weight-decay=1e-3",
              "adam:lr=0.001,weight-decay=0.01,decoupled=yes", "adadelta", "adagrad"]
SCHEDULES = ["constant", "cosine", "onecycle", "cosine:warmup-steps=2,min=1e-4", "step:1=0.001"]
AUGMENTATIONS = ["none", "crop,flip", "cutout", "flip"]

# These once failed although nothing was wrong.
NAMED = ["--model redshift-cnn --steps 20 --seed 105",
         "--model mnist-cnn --steps 12 --batch 17 --oars 3 --seed 988231 --optimizer sgd:lr=0.1,weight-decay=1e-4 "
         "--init he",
         "--model mnist-cnn --steps 1 --batch 21 --oars 1 --seed 816839 --init he --augment cutout"]


def settings(rng):
    model = rng.choices(list(MODELS), [weight for weight, _ in MODELS.values()])[0]
    batch = rng.randint(2, MODELS[model][1])
    return ["--model", model, "--steps", str(rng.choice([1, 2, 3, 5])), "--batch", str(batch),
            # PyTorch refuses a batch norm of one value.
            "--oars", str(rng.choice([oars for oars in (1, 2, 3, 4) if 2 * oars <= batch])),
            "--seed", str(rng.randrange(10 ** 6)), "--optimizer", rng.choice(OPTIMIZERS),
            "--init", rng.choice(["pytorch", "keras", "he"]),
            "--augment", "none" if model == "redshift-cnn" else rng.choice(AUGMENTATIONS),
            "--schedule", rng.choice(SCHEDULES), "--winograd", rng.choice(["auto", "auto", "yes", "no"])]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--count", type=int, default=200)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--program", default=str(ROOT / "build" / "trireme"))
    given = arguments.parse_args()
    rng = random.Random(given.seed)
    runs = [line.split() for line in NAMED]
    runs += [settings(rng) for _ in range(given.count - len(runs))]

    def run(options):
        command = [given.program, "compare", *options, "--levels", "op-equal,update-equal,step-equal"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for number, (options, done) in enumerate(zip(runs, pool.map(run, runs)), 1):
            if done.returncode:
                failed += 1
                print(f"FAILS: trireme compare {' '.join(options)}\n{done.stdout}{done.stderr}", flush=True)
            elif number % 10 == 0:
                print(f"{number} of {len(runs)}, {failed} failed", flush=True)
    print(f"{len(runs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
