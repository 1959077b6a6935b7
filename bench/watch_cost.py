#!/usr/bin/env python3
"""What watching costs: `trireme train` with everything recorded against a run that records as little as it can.

    bench/watch_cost.py [--models lenet5,resnet20-cifar] [--workers 2] [--pairs 15] [--seconds 10]
                        [--on "--watch --tensorboard"] [--off "--trace none"] [--json FILE]

Each pair runs both sides, and which one goes first alternates, so background load hits both. We report the median time
of a step on each side, the median of the pairs' ratios off / on (1: watching is free, below 1 it costs) with their
quartiles, and the share of the run's processor time that its observer threads used (sinks, resources, trace, page), as
the system counted it. Exit code 1 when that share is above --most-observers.
"""

import argparse
import collections
import json
import os
import statistics
import tempfile
import time

from runs import MODELS, cpus_for, fail, kill_all, program, start

OBSERVERS = ("sink ", "resources", "spans", "page")  # how the names of their threads begin


def processes_below(root):
    """The process and all that it started."""
    children = collections.defaultdict(list)
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                children[int(file.read().rsplit(")", 1)[1].split()[1])].append(int(name))
        except OSError:
            continue  # it has ended meanwhile
    found, left = [], [root]
    while left:
        found.append(left.pop())
        left += children[found[-1]]
    return found


def sample_threads(root, used):
    """Notes the nanoseconds that each thread has run so far: {(process, thread): (name, ns)}."""
    for process in processes_below(root):
        try:
            threads = os.listdir(f"/proc/{process}/task")
        except OSError:
            continue
        for thread in threads:
            folder = f"/proc/{process}/task/{thread}"
            try:
                with open(f"{folder}/comm") as name, open(f"{folder}/schedstat") as ran:
                    used[process, thread] = name.read().strip(), int(ran.read().split()[0])
            except OSError:
                continue


def run(model, arguments, options, steps, folder):
    """One run: seconds of a step, and the share of each kind of observer in its processor time."""
    command = [program(), "train", "--model", model, "--data", "synthetic", "--train-samples", "50000",
               "--test-samples", "64", "--steps", str(steps), "--workers", str(options.workers), "--threads", "1",
               "--run", os.path.join(folder, "run"), "--json", "--quiet", *arguments]
    process = start(command, cpus_for("", min(options.workers, len(os.sched_getaffinity(0)))))
    used = {}
    while process.poll() is None:
        sample_threads(process.pid, used)
        time.sleep(0.2)
    out = process.stdout.read()
    if process.returncode != 0:
        fail(f"{' '.join(command)} ended with {process.returncode}", 1)
    summary = json.loads(out.splitlines()[-1])
    observers = collections.Counter()
    for name, ns in used.values():
        if name.startswith(OBSERVERS):
            observers[name] += ns
    seconds = sum(summary["seconds"][phase] for phase in ("load", "forward", "backward", "network", "update"))
    total = max(1, sum(ns for _, ns in used.values()))
    return seconds / summary["steps"], {name: ns / total for name, ns in observers.items()}


def measure(model, options):
    sides = {"on": options.on.split(), "off": options.off.split()}
    times, shares = {"on": [], "off": []}, []
    with tempfile.TemporaryDirectory(prefix="trireme-watch-cost-") as folder:
        once = lambda side, steps: run(model, sides[side], options, steps, tempfile.mkdtemp(dir=folder))
        step, _ = once("off", 20)
        steps = max(20, int(options.seconds / step))
        for pair in range(options.pairs):
            for side in ("on", "off") if pair % 2 else ("off", "on"):
                step, share = once(side, steps)
                times[side].append(step)
                if side == "on":
                    shares.append(share)
    ratios = [off / on for off, on in zip(times["off"], times["on"])]
    quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    return {"model": model, "workers": options.workers, "pairs": options.pairs, "steps": steps,
            "on_ms": 1e3 * statistics.median(times["on"]), "off_ms": 1e3 * statistics.median(times["off"]),
            "ratio": statistics.median(ratios), "quartiles": [quartiles[0], quartiles[2]],
            "observers": statistics.median(sum(share.values()) for share in shares),
            "by_thread": {name: statistics.median(share.get(name, 0) for share in shares)
                          for name in sorted({name for share in shares for name in share})}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default="lenet5,resnet20-cifar")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=10, help="of training in each run, about")
    parser.add_argument("--on", default="--watch --tensorboard")
    parser.add_argument("--off", default="--trace none")
    parser.add_argument("--most-observers", type=float, default=0.01)
    parser.add_argument("--json", default="", help="also write the rows to this file")
    options = parser.parse_args()
    rows = []
    for model in options.models.split(","):
        if model not in MODELS:
            fail(f"there is no '{model}' here; there are {', '.join(MODELS)}")
        rows.append(measure(model, options))
        row = rows[-1]
        print(f"{model:16} {row['workers']} workers  on {row['on_ms']:8.3f} ms  off {row['off_ms']:8.3f} ms  off / on "
              f"{row['ratio']:.3f} ({row['quartiles'][0]:.3f} to {row['quartiles'][1]:.3f})  observers "
              f"{100 * row['observers']:.2f} % of processor time", flush=True)
        print("  " + ", ".join(f"{name} {100 * share:.2f} %" for name, share in row["by_thread"].items()), flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"results": rows}, file, indent=1)
    if any(row["observers"] > options.most_observers for row in rows):
        fail(f"observer threads use more than {100 * options.most_observers:.0f} % of the processor time", 1)


if __name__ == "__main__":
    try:
        main()
    finally:
        kill_all()
