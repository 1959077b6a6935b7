#!/usr/bin/env python3
"""Measures the cost of working together: one run of N workers, with one thread each and a fixed batch per worker,
against N independent runs of one worker at the same time. Both sides are pinned to the same cores, one per worker, and
alternate. The ratio of their samples per second is 1 when communication costs nothing; sharing caches, memory and power
affects both sides. A run together is compared with the mean of the independent runs before and after it, because
background load changes from one second to the next.

    bench/scaling.py --scaling 16 --model resnet18,densenet40-12
    bench/scaling.py --scaling 2,4 --strategy ps:mode=sync --json

A step lasts from its beginning to the beginning of the next. Each repetition counts all steps but the first and the
last ones; we report the median repetition. A worker's batch is one oar unless --oars-per-worker says otherwise. Other
options go to the run of N workers, e.g. --transport tcp.
"""

import argparse
import itertools
import json
import math
import os
import time

import runs

LEAST_STEPS, MOST_STEPS = 20, 300
ROUND_SECONDS = 3
SETTLE_SECONDS = 0.05
TRIAL_STEPS = 8


def measure(model, workers, options, arguments, folder):
    shape, of_study = runs.MODELS[model]
    share = options.batch or of_study
    batch = share * workers
    cpus = runs.cpus_for(options.cpus, workers)
    data = os.path.join(folder, f"data-{model}-{workers}")
    numbers = itertools.count()

    def run(batch, steps, cpus, workers, more):
        return runs.Run(folder, f"{model}-{workers}-{next(numbers)}", model, data, batch, steps, cpus,
                        ["--workers", str(workers), "--pin", "yes", "--oars", str(options.oars_per_worker * workers),
                         *more])

    # The first and the last fifth of the steps are left out: then all of the single runs are under way.
    runs.write_data(data, shape, share * (TRIAL_STEPS + 1))
    trial = runs.median(run(share, TRIAL_STEPS, cpus[:1], 1, []).seconds(TRIAL_STEPS // 2))
    steps = options.steps or min(MOST_STEPS, max(LEAST_STEPS, math.ceil(ROUND_SECONDS / trial)))
    edge = math.ceil(steps / 3)
    data += "-all"
    runs.write_data(data, shape, batch * (steps + 2 * edge + 1))

    def all_alone():
        time.sleep(SETTLE_SECONDS)
        many = [run(share, steps + 2 * edge + 1, [cpu], 1, []) for cpu in cpus]
        return sum(share / runs.mean(each.seconds(edge, edge)) for each in many)

    def all_together():
        time.sleep(SETTLE_SECONDS)
        one = run(batch, steps + 2 * edge + 1, cpus, workers, ["--strategy", options.strategy, *arguments])
        return batch / runs.mean(one.seconds(edge, edge))

    together, alone = [], [all_alone()]
    for _ in range(options.repeats):
        together.append(all_together())
        alone.append(all_alone())
    ratios = [2 * rate / (before + after) for rate, before, after in zip(together, alone, alone[1:])]
    return {"model": model, "world": workers, "threads": 1, "batch": batch, "strategy": options.strategy,
            "oars": options.oars_per_worker * workers, "steps": steps, "repeats": options.repeats,
            "samples_per_second": runs.median(together), "independent_samples_per_second": runs.median(alone),
            "ratio": runs.median(ratios), "ratios": ratios}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--scaling", default="2", metavar="N", help="workers, one core each; several: 2,4,8 (2)")
    parser.add_argument("--model", default="lenet5,resnet18,resnet50-cifar,densenet40-12",
                        help="networks, separated by commas")
    parser.add_argument("--strategy", default="allreduce", help="a synchronous one (allreduce)")
    parser.add_argument("--batch", type=int, default=0, help="samples of a worker's batch; 0: as in the studies")
    parser.add_argument("--oars-per-worker", type=int, default=1, help="oars of a worker's batch (1)")
    parser.add_argument("--repeats", type=int, default=5, help="repetitions, in which the sides alternate (5)")
    parser.add_argument("--steps", type=int, default=0, help="steps of a repetition; 0: 20, more where steps are short")
    parser.add_argument("--cpus", default="", help="cores, one for each worker, e.g. 0,1; default: the first ones")
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object")
    options, arguments = parser.parse_known_args()
    models = runs.models_of(options.model)
    runs.program()
    counts = [int(word) if word.isdigit() else runs.fail(f"--scaling is '{options.scaling}', expected 2 or 2,4,8")
              for word in options.scaling.split(",")]
    for count in counts:
        runs.cpus_for(options.cpus, count)
    results = []
    if not options.json:
        print(f"Samples per second of N workers in one run and of N runs on their own (medians of {options.repeats} "
              f"repetitions in turns)")
        print(f"{'model':<17} {'N':>3} {'batch':>5} {'together':>10} {'alone':>10} {'ratio':>6}  of each repetition")
    with runs.work_folder() as folder:
        for model in models:
            for workers in counts:
                result = measure(model, workers, options, arguments, folder)
                results.append(result)
                if not options.json:
                    print(f"{model:<17} {workers:>3} {result['batch']:>5} {result['samples_per_second']:>10.1f} "
                          f"{result['independent_samples_per_second']:>10.1f} {result['ratio']:>6.3f}  "
                          f"{' '.join(f'{ratio:.2f}' for ratio in result['ratios'])}", flush=True)
    if options.json:
        print(json.dumps({"results": results}))


if __name__ == "__main__":
    main()
