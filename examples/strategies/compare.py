#!/usr/bin/env python3
"""Trains the same network with several strategies and compares what each learns, and how long it takes.

    examples/strategies/compare.py
    examples/strategies/compare.py --model densenet40-12 --epochs 40 --workers 5 \\
        --optimizer sgd:lr=0.1,momentum=0.9 --schedule step:20=0.01,30=0.001

Other options go to every `trireme train`. The run folders, a plot of the accuracy over time (accuracy.svg) and the
table's numbers (compare.json) are in the folder of --to.
"""

import argparse
import json
import os
import sys

import plot
import runs

SWITCH = "switch:at={}%,from=allreduce,to=ps:mode=async"
STRATEGIES = {
    "single": "single",
    "allreduce": "allreduce",
    "ps sync": "ps:mode=sync",
    "ps async": "ps:mode=async",
    "ps ssp": "ps:mode=ssp",
    "ps dssp": "ps:mode=dssp",
    "switch 25 %": SWITCH.format(25),
    "switch 50 %": SWITCH.format(50),
    "switch 75 %": SWITCH.format(75),
}


def row_of(run):
    """What the table says of a run."""
    last, summary = run.epochs[-1], run.summary
    staleness = run.staleness()
    return {"strategy": summary["strategy"], "accuracy": run.accuracy_over_time()[-1][1],
            "seconds": summary["seconds"]["total"], "train_loss": summary["train_loss"],
            "test_loss": last.get("validation_loss", last.get("test_loss")),
            "samples_per_second": summary["samples_per_second"],
            "staleness": staleness and {"mean": staleness[0], "most": staleness[1]},
            "weights_sha256": summary["weights_sha256"], "run": run.folder}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--model", default="mnist-cnn", help="network of the zoo (mnist-cnn)")
    parser.add_argument("--data", default="fashion-mnist", help="dataset (fashion-mnist)")
    parser.add_argument("--epochs", type=int, default=3, help="epochs of every run (3)")
    parser.add_argument("--workers", type=int, default=3, help="workers of every run but single (3)")
    parser.add_argument("--strategies", default="", metavar="LIST",
                        help="some of them only, separated by commas: " + ", ".join(STRATEGIES).replace("%", "%%"))
    parser.add_argument("--to", default="", metavar="DIR", help="a new folder; default runs/strategies-<number>")
    options, arguments = parser.parse_known_args()
    names = [name.strip() for name in options.strategies.split(",")] if options.strategies else list(STRATEGIES)
    for name in names:
        if name not in STRATEGIES:
            runs.fail(f"there is no strategy '{name}' here; there are {', '.join(STRATEGIES)}")
    runs.program()
    folder = runs.new_folder(options.to, "strategies")
    rows, lines = {}, []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        run = runs.Run(os.path.join(folder, name.replace(" ", "-").replace("-%", "")),
                       ["--model", options.model, "--data", options.data, "--epochs", str(options.epochs), "--workers",
                        str(1 if name == "single" else options.workers), "--strategy", STRATEGIES[name], *arguments])
        rows[name] = row_of(run)
        lines.append((name, [(seconds, 100 * accuracy) for seconds, accuracy in run.accuracy_over_time()]))
        validates = "validation_accuracy" in run.epochs[-1]

    kind = "validation" if validates else "test"
    title = f"{options.model} on {options.data}, {options.workers} workers, {options.epochs} epochs"
    texts = {
        kind + " accuracy": lambda row: f"{100 * row['accuracy']:.2f} %",
        "time": lambda row: runs.clock_text(row["seconds"]),
        "train loss": lambda row: f"{row['train_loss']:.4f}",
        kind + " loss": lambda row: f"{row['test_loss']:.4f}",
        "samples/s": lambda row: f"{row['samples_per_second']:.0f}",
        "staleness, mean": lambda row: f"{row['staleness']['mean']:.2f}" if row["staleness"] else "0",
        "staleness, most": lambda row: f"{row['staleness']['most']}" if row["staleness"] else "0",
        "weights": lambda row: row["weights_sha256"][:8],
    }
    print(title + "\n")
    runs.print_table(["", *names], [[label, *(text(rows[name]) for name in names)] for label, text in texts.items()])
    picture = os.path.join(folder, "accuracy.svg")
    plot.write_svg(picture, title, "seconds since the start, evaluation included", kind + " accuracy", lines)
    with open(os.path.join(folder, "compare.json"), "w") as file:
        json.dump({"model": options.model, "data": options.data, "epochs": options.epochs, "workers": options.workers,
                   "arguments": arguments, "results": rows}, file, indent=2)
    print(f"\nplot {picture}")


if __name__ == "__main__":
    main()
