#!/usr/bin/env python3
"""Samples per second of data-parallel training: `trireme train --strategy allreduce` beside PyTorch's
DistributedDataParallel over gloo, as many processes with one thread each, on the same cpus, in turns.

    bench/ddp.py --model lenet5,resnet18 --repeats 7
    bench/ddp.py --json

Both sides run the same network with the same global batch from data in memory (SGD, momentum 0.9). Of each repetition
the step in the middle counts, from the beginning of a step to the beginning of the next, after some steps that nobody
counts; of all repetitions the one in the middle. PyTorch's ranks are started once and sleep while ours run; ours are
started anew each time. PyTorch is tried with both layouts of images, with its ranks pinned to a cpu each and free on
those cpus; the fastest way counts. Options that are not listed go to `trireme train`, as in --transport tcp.
"""

import argparse
import json
import math
import os
import select
import subprocess
import time

import runs

ANSWER_SECONDS = 600
LEAST_STEPS, MOST_STEPS = 20, 200
ROUND_SECONDS = 1.5  # of a repetition, where steps are short
SETTLE_SECONDS = 0.05


def find_python(wanted):
    for python in filter(None, (wanted, os.environ.get("TRIREME_PYTHON"), "python3", "/usr/bin/python3")):
        try:
            if subprocess.run([python, "-c", "import torch"], capture_output=True, timeout=120).returncode == 0:
                return python
        except (OSError, subprocess.TimeoutExpired):
            pass
        if python == wanted:
            break
    runs.fail("no python3 that imports torch: install python3-torch, or name one with --python or TRIREME_PYTHON")


class Ranks:
    """The processes of one DDP group."""

    def __init__(self, python, folder, name, cpus, pinned):
        peers = os.environ.get("TRIREME_PEERS", os.path.join(runs.REPOSITORY, "peers"))
        script = os.path.join(peers, "pytorch", "ddp.py")
        log = open(os.path.join(folder, name + ".log"), "w")
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        self.log = log.name
        self.processes = [runs.start([python, script, "1"], cpus, stdin=subprocess.PIPE, stderr=log, env=environment)
                          for _ in cpus]
        log.close()
        meeting = os.path.join(folder, name + ".meeting")
        joins = [{"do": "join", "file": meeting, "rank": rank, "world": len(cpus), **({"cpus": [cpu]} if pinned else {})}
                 for rank, cpu in enumerate(cpus)]
        self.joined = self.ask_each(joins)[0]

    def ask_each(self, requests):
        for process, request in zip(self.processes, requests):
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
        answers = []
        for process in self.processes:
            if not select.select([process.stdout], [], [], ANSWER_SECONDS)[0]:
                runs.fail(f"PyTorch has not answered for {ANSWER_SECONDS} s", 1)
            line = process.stdout.readline()
            answer = json.loads(line) if line else {"error": "it has ended"}
            if "error" in answer:
                with open(self.log) as log:
                    runs.fail(f"PyTorch: {answer['error']}\n{log.read()}", 1)
            answers.append(answer)
        return answers

    def ask(self, request):
        return self.ask_each([request] * len(self.processes))

    def seconds(self, warm_up, steps):
        """Of the slowest rank; they wait for each other, so it is the others' time as well."""
        return max(answer["median"] for answer in self.ask({"do": "run", "warm_up": warm_up, "steps": steps}))

    def end(self):
        for process in self.processes:
            process.stdin.close()
        for process in self.processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Pytorch:
    """The fastest way of it; the others are ended."""

    def __init__(self, python, folder, model, batch, cpus):
        self.ranks, self.trial = None, math.inf
        for layout in ("nchw", "channels_last"):
            for pinned in (False, True):
                ranks = Ranks(python, folder, f"{model}-{layout}-{pinned}", cpus, pinned)
                ranks.ask({"do": "prepare", "model": model, "batch": batch, "layout": layout})
                optimizer = ranks.ask({"do": "tune"})[0]["optimizer"]
                seconds = ranks.seconds(1, 3)
                if seconds < 1:
                    seconds = min(seconds, ranks.seconds(2, 7))
                if seconds >= self.trial:
                    ranks.end()
                    continue
                if self.ranks:
                    self.ranks.end()
                self.ranks, self.trial = ranks, seconds
                self.version = ranks.joined["torch"]
                self.way = f"{layout}, {optimizer} SGD, BLAS {ranks.joined['blas']}{', pinned' if pinned else ''}"

    def end(self):
        self.ranks.end()


def measure(model, options, arguments, python, cpus, folder):
    shape, of_study = runs.MODELS[model]
    share = options.batch or of_study
    batch = share * options.world
    peer = Pytorch(python, folder, model, share, cpus)
    steps = options.steps or min(MOST_STEPS, max(LEAST_STEPS, math.ceil(ROUND_SECONDS / peer.trial)))
    data = os.path.join(folder, f"data-{model}")
    runs.write_data(data, shape, batch * (options.warm_up + steps + 1))
    ours, theirs = [], []
    summary = {}
    for repeat in range(options.repeats):
        time.sleep(SETTLE_SECONDS)
        run = runs.Run(folder, f"{model}-{repeat}", model, data, batch, options.warm_up + steps + 1, cpus,
                       ["--workers", str(options.world), "--strategy", "allreduce", "--oars", str(options.oars),
                        *arguments])
        ours.append(runs.median(run.seconds(options.warm_up)))
        summary = run.summary
        time.sleep(SETTLE_SECONDS)
        theirs.append(peer.ranks.seconds(options.warm_up, steps))
    peer.end()
    our_seconds, their_seconds = runs.median(ours), runs.median(theirs)
    return {"model": model, "world": options.world, "threads": 1, "batch": batch, "oars": summary["oars"],
            "strategy": "allreduce", "steps": steps, "repeats": options.repeats,
            "ours_ms": 1e3 * our_seconds, "best_ms": 1e3 * min(ours), "samples_per_second": batch / our_seconds,
            "peer": "pytorch ddp", "peer_version": peer.version, "peer_way": peer.way,
            "peer_ms": 1e3 * their_seconds, "peer_best_ms": 1e3 * min(theirs),
            "peer_samples_per_second": batch / their_seconds, "ratio": their_seconds / our_seconds}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--model", default="lenet5,resnet18,resnet50-cifar,densenet40-12,alexnet,resnet50",
                        help="networks, separated by commas")
    parser.add_argument("--world", type=int, default=2, help="processes of each side (2)")
    parser.add_argument("--batch", type=int, default=0, help="samples of a worker's batch; 0: as in the studies")
    parser.add_argument("--oars", type=int, default=0, help="of the global batch; 0: Trireme's default")
    parser.add_argument("--repeats", type=int, default=5, help="repetitions of each side, in turns (5)")
    parser.add_argument("--steps", type=int, default=0, help="of a repetition; 0: 20, more where steps are short")
    parser.add_argument("--warm-up", type=int, default=8, help="steps before that nobody counts (8)")
    parser.add_argument("--cpus", default="", help="one for each process, as 0,1; default: the first ones")
    parser.add_argument("--python", default="", help="with torch; else TRIREME_PYTHON, python3, /usr/bin/python3")
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")
    options, arguments = parser.parse_known_args()
    models = runs.models_of(options.model)
    runs.program()
    cpus = runs.cpus_for(options.cpus, options.world)
    python = find_python(options.python)
    results = []
    if not options.json:
        print(f"Data-parallel training, {options.world} processes with 1 thread each, samples per second "
              f"(medians of {options.repeats} repetitions in turns)")
        print(f"{'model':<17} {'batch':>5} {'V':>3} {'trireme':>10} {'pytorch':>10} {'ratio':>7}")
    with runs.work_folder() as folder:
        for model in models:
            result = measure(model, options, arguments, python, cpus, folder)
            results.append(result)
            if not options.json:
                print(f"{model:<17} {result['batch']:>5} {result['oars']:>3} {result['samples_per_second']:>10.1f} "
                      f"{result['peer_samples_per_second']:>10.1f} {result['ratio']:>6.2f}x  {result['peer_way']}",
                      flush=True)
    if options.json:
        print(json.dumps({"results": results}))


if __name__ == "__main__":
    main()
