#!/usr/bin/env python3
"""Compares two builds of Trireme: `bench step`, `bench collective` and `bench train` of both, in turns.

    bench/two_programs.py OLD NEW [--rounds 9] [--benches step,collective,train] [--model NAMES] [--json FILE]

OLD and NEW are programs. Each round runs both, and which one goes first alternates, so background load hits both. We
report the median over the rounds and the ratio old / new: above 1 the new program is faster. Then come the geometric
means of the ratios, per bench and of all rows. Exit code 1 when the mean of all is below --least.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys

from runs import fail

TIMES = ("ours_ms", "ours_us")  # how benches call their figure
ARGUMENTS = {
    "step": ["--threads", "1"],
    "collective": ["--world", "2", "--transport", "shm,tcp", "--algorithm", "auto,exact",
                   "--bytes", "4096,262144,44000000"],
    "train": ["--world", "2"],
}
MODELS = {"step": "all", "train": "lenet5,mnist-cnn,resnet20-cifar,resnet18"}
LONGEST_SECONDS = 1200


def measure(program, bench, models):
    """{parameters of a row: its time} of one call."""
    command = [program, "bench", bench, *ARGUMENTS[bench], "--repeats", "1", "--json"]
    if bench in MODELS:
        command += ["--model", models or MODELS[bench]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_SECONDS)
    if done.returncode != 0:
        fail(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}", 1)
    rows = {}
    for result in json.loads(done.stdout.splitlines()[-1])["results"]:
        time = next(result[name] for name in TIMES if name in result)
        named = {key: value for key, value in result.items() if isinstance(value, (str, int))}
        rows[" ".join(f"{value}" if isinstance(value, str) else f"{key}={value}" for key, value in named.items())] = time
    return rows


def geometric_mean(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--benches", default=",".join(ARGUMENTS))
    parser.add_argument("--model", default="", help="networks instead of the usual ones (step, train)")
    parser.add_argument("--least", type=float, default=0.0, help="exit code 1 below this geometric mean")
    parser.add_argument("--json", default="", help="also write the rows to this file")
    options = parser.parse_args()
    programs = {"old": options.old, "new": options.new}
    for program in programs.values():
        if not os.access(program, os.X_OK):
            fail(f"{program} is no program")
    benches = options.benches.split(",")
    for bench in benches:
        if bench not in ARGUMENTS:
            fail(f"there is no bench '{bench}' here; there are {', '.join(ARGUMENTS)}")
    if options.rounds < 1:
        fail(f"--rounds is {options.rounds}, expected at least 1")

    table = []
    for bench in benches:
        times = {}  # row: {side: times}
        for number in range(options.rounds):
            for side in sorted(programs, reverse=number % 2 == 0):
                for row, time in measure(programs[side], bench, options.model).items():
                    times.setdefault(row, {"old": [], "new": []})[side].append(time)
            print(f"{bench}: round {number + 1} of {options.rounds}", file=sys.stderr)
        for row, sides in times.items():
            if not sides["old"] or not sides["new"]:
                continue  # only one of the programs knows it
            old, new = statistics.median(sides["old"]), statistics.median(sides["new"])
            table.append({"bench": bench, "row": row, "old": old, "new": new, "ratio": old / new})
            print(f"{bench:<11} {row:<70} {old:>10.3f} {new:>10.3f}  {old / new:.3f}", flush=True)
    if not table:
        fail("the programs have no row in common", 1)
    for bench in benches:
        ratios = [row["ratio"] for row in table if row["bench"] == bench]
        if ratios:
            print(f"{bench:<11} geometric mean {geometric_mean(ratios):.3f}, least {min(ratios):.3f}")
    mean = geometric_mean([row["ratio"] for row in table])
    print(f"all         geometric mean {mean:.3f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"results": table, "geometric_mean": mean}, file, indent=1)
    sys.exit(1 if mean < options.least else 0)


if __name__ == "__main__":
    main()
