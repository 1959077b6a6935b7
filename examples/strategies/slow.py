#!/usr/bin/env python3
"""Measures the cost of a slow machine, strategy by strategy. --slow simulates it: the worker sleeps.

    examples/strategies/slow.py
    examples/strategies/slow.py --model lenet5 --batch 96 --steps 600 --factor 2

Two experiments, each over the same number of samples: the last worker is slow all the time, and the workers are slow in
turn, some steps each. Every worker has one thread; where workers share a core, strategies without waiting gain less.
The strategies alternate for some rounds; a ratio is between two runs of one round, and we report the median round. For
the stale-synchronous modes the clocks in metrics.jsonl are checked, push by push: no worker may be further ahead of the
slowest than the bound. Other options go to every `trireme train`.
"""

import argparse
import os
import statistics
import sys

import runs

STALENESS, LOW, HIGH = 8, 3, 15


def stretches(pushes):
    """The pushes between two meetings; a worker's clock starts from 0 in each."""
    parts, seen = [[]], set()
    for push in pushes:
        if push["clock"] == 0 and push["worker"] in seen:
            parts.append([])
            seen.clear()
        seen.add(push["worker"])
        parts[-1].append(push)
    return parts


def leads(stretch, workers):
    """For each push, by how many pushes its worker was ahead of the slowest one that still had work to do.

    The lines of metrics.jsonl are in the order in which pushes were done. A worker started on its push earlier, when
    the slowest may have been further behind, but never further than it was allowed.
    """
    last = {push["worker"]: number for number, push in enumerate(stretch)}
    done = [0] * workers
    ahead = []
    for number, push in enumerate(stretch):
        here = [done[worker] for worker in range(workers) if last.get(worker, -1) >= number]
        ahead.append((push["worker"], push["clock"] - min(here)))
        done[push["worker"]] = push["clock"] + 1
    return ahead


def say_clocks(run, workers, bound, low):
    """Checks the bound, and shows how far workers went."""
    parts = [leads(stretch, workers) for stretch in stretches(run.pushes)]
    all_leads = [lead for part in parts for _, lead in part]
    most = max(all_leads)
    recorded = [push["clock"] - push["slowest"] for push in run.pushes]
    verdict = "holds" if most <= bound and max(recorded) <= bound else "IS BROKEN"
    print(f"  clock - slowest <= {bound} {verdict}: at most {most} in {len(all_leads)} pushes")
    if low < bound:
        # The largest lead in each twentieth of the run: the allowance as it was used.
        size = max(1, len(recorded) // 20)
        moved = [max(recorded[at:at + size]) for at in range(0, len(recorded), size)]
        beyond = sum(lead > low for lead in recorded)
        print(f"  ahead of the slowest, over the run: {' '.join(map(str, moved))}; {beyond} pushes beyond {low}")
    return verdict == "holds"


def say_bound(run, workers, slow, staleness):
    """What a bound of s pushes can gain at most, over a step at which everybody waits for the slow worker."""
    counts = [[sum(push["worker"] == worker for push in part) for worker in range(workers)]
              for part in stretches(run.pushes)]
    clock = sum(count[slow] for count in counts)
    total = sum(map(sum, counts))
    bound = (workers * clock + len(counts) * (workers - 1) * staleness) / (workers * clock)
    print(f"  the slow worker made {clock} of {total} pushes: {total / (workers * clock):.3f} times what it would have "
          f"let through in step; (W c + (W - 1) s) / (W c) is {bound:.3f}")


class Experiment:
    def __init__(self, options, arguments, folder):
        self.options, self.arguments, self.folder = options, arguments, folder
        self.all_hold = True

    def run(self, name, slow, strategy, more):
        print(f"{name} ...", file=sys.stderr, flush=True)
        o = self.options
        # As many oars for each worker: then all shares are equal.
        oars = [] if "--oars" in self.arguments else ["--oars", str(4 * o.workers)]
        return runs.Run(os.path.join(self.folder, name.replace(" ", "-").replace(",", "")),
                        ["--model", o.model, "--data", o.data, "--batch", str(o.batch), "--steps", str(o.steps),
                         "--workers", str(o.workers), "--threads", "1", *oars, "--slow", slow, "--strategy", strategy,
                         *more, *self.arguments])

    def compare(self, title, slow, cases, slow_worker=None):
        """`cases` are (name, strategy, more options, bound or None, lower bound); the first is what others are
        compared with."""
        print(f"{title}: --slow {slow}", flush=True)
        rounds = [[self.run(f"{title} {name} {number}", slow, strategy, more) for name, strategy, more, _, _ in cases]
                  for number in range(1, self.options.repeats + 1)]
        firsts = [runs_of_round[0].training_seconds for runs_of_round in rounds]
        workers = self.options.workers
        rows, middles = [], []
        for of_case, (name, _, _, _, _) in zip(zip(*rounds), cases):
            ratios = [first / run.training_seconds for first, run in zip(firsts, of_case)]
            middle = statistics.median_low(ratios)
            run = of_case[ratios.index(middle)]
            if run.pushes:
                shares = [sum(push["worker"] == worker for push in run.pushes) for worker in range(workers)]
            else:
                shares = [worker["oars"] for worker in run.summary["per_worker"]]
            staleness = run.staleness()
            middles.append(run)
            rows.append([name, runs.clock_text(statistics.median(run.training_seconds for run in of_case)),
                         f"{statistics.median(ratios):.2f}", " ".join(f"{ratio:.2f}" for ratio in sorted(ratios)),
                         f"{run.summary['samples_per_second']:.0f}", ", ".join(map(str, shares)),
                         f"{staleness[0]:.2f}, {staleness[1]}" if staleness else "0",
                         f"{run.summary['train_loss']:.4f}"])
        runs.print_table(["", "time", "times as fast", "of each round", "samples/s", "oars, or pushes, of each",
                          "staleness: mean, most", "train loss"], rows)
        for of_case, middle, (name, _, _, bound, low) in zip(zip(*rounds), middles, cases):
            if bound is None:
                if middle.summary.get("lateness"):
                    print(f"{name}: {middle.summary['lateness']}")
                continue
            print(f"{name}:")
            for run in of_case:
                self.all_hold &= say_clocks(run, workers, bound, low)
            if slow_worker is not None:
                say_bound(middle, workers, slow_worker, bound)
        print(flush=True)


def main():
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--model", default="mnist-cnn", help="a step should take some milliseconds (mnist-cnn)")
    parser.add_argument("--data", default="fashion-mnist", help="dataset (fashion-mnist)")
    parser.add_argument("--batch", type=int, default=192, help="global batch (192)")
    parser.add_argument("--steps", type=int, default=100, help="steps of every run (100)")
    parser.add_argument("--workers", type=int, default=max(2, min(3, cores)),
                        help="workers of every run (3, or 2 with fewer than 3 cores)")
    parser.add_argument("--factor", type=float, default=3, help="how many times slower (3)")
    parser.add_argument("--rotate", type=int, default=3, help="steps until the next one is slow (3)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds, in each of which every strategy runs (3)")
    parser.add_argument("--to", default="", metavar="DIR", help="a new folder; default runs/slow-<number>")
    options, arguments = parser.parse_known_args()
    if options.repeats < 1:
        runs.fail(f"--repeats is {options.repeats}, expected 1 or more")
    runs.program()
    experiment = Experiment(options, arguments, runs.new_folder(options.to, "slow"))
    even = ("allreduce, even", "allreduce", ["--assign", "even"], None, 0)
    ssp = (f"ssp, {STALENESS}", f"ps:mode=ssp,staleness={STALENESS}", [], STALENESS, STALENESS)
    slow_worker = options.workers - 1
    experiment.compare("one is slow", f"worker={slow_worker},factor={options.factor:g}", [
        even,
        ("allreduce, measured", "allreduce", ["--assign", "measured"], None, 0),
        ("async", "ps:mode=async", [], None, 0),
        ssp,
        (f"dssp, {LOW} to {HIGH}", f"ps:mode=dssp,low={LOW},high={HIGH}", [], HIGH, LOW),
    ], slow_worker)
    experiment.compare("in turn", f"worker=0,factor={options.factor:g},rotate={options.rotate}", [even, ssp])
    print(f"runs in {experiment.folder}")
    if not experiment.all_hold:
        runs.fail("a bound on the clocks is broken", 1)


if __name__ == "__main__":
    main()
