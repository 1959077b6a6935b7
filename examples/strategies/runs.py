"""Runs of `trireme train`, and the results in their folders. Needs nothing but Python's standard library."""

import json
import os
import shutil
import subprocess
import sys


def fail(sentence, code=2):
    print(f"{os.path.basename(sys.argv[0])}: {sentence}", file=sys.stderr)
    sys.exit(code)


def program():
    """The variable TRIREME, else build/trireme of this repository, else the one that is installed."""
    here = os.path.dirname(os.path.abspath(__file__))
    built = os.path.join(here, "..", "..", "build", "trireme")
    path = os.environ.get("TRIREME") or (built if os.path.exists(built) else shutil.which("trireme"))
    if not path or not os.access(path, os.X_OK):
        fail("there is no Trireme; build it with make, or say where it is: TRIREME=path")
    return os.path.abspath(path)


def new_folder(wanted, name):
    """`wanted`, which must be new, or runs/name-1, runs/name-2, ..."""
    if wanted and os.path.exists(wanted):
        fail(f"{wanted} exists already; name a new folder")
    number = 1
    while not wanted or os.path.exists(wanted):
        wanted = os.path.join("runs", f"{name}-{number}")
        number += 1
    os.makedirs(wanted)
    return wanted


class Run:
    """One run, from its start to its end."""

    def __init__(self, folder, arguments):
        command = [program(), "train", *arguments, "--run", folder, "--json"]
        with open(folder + ".log", "w") as log:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True)
        if done.returncode != 0:
            with open(folder + ".log") as log:
                fail(f"{' '.join(command)} ended with {done.returncode}:\n{log.read()[-2000:]}", 1)
        self.folder = folder
        self.summary = json.loads(done.stdout.splitlines()[-1])
        self.epochs, self.pushes = [], []
        with open(os.path.join(folder, "metrics.jsonl")) as metrics:
            for line in map(json.loads, metrics):
                if line["type"] == "epoch":
                    self.epochs.append(line)
                if line["type"] == "push":
                    self.pushes.append(line)

    @property
    def training_seconds(self):
        """Without evaluation and checkpoints."""
        return sum(epoch["ledger"]["used"] for epoch in self.epochs) / self.summary["samples_per_second"]

    def accuracy_over_time(self):
        """(seconds since the start, accuracy on the validation share or the test set) after each epoch."""
        now, points = 0.0, []
        for epoch in self.epochs:
            now += epoch["seconds"]
            points.append((now, epoch.get("validation_accuracy", epoch.get("test_accuracy"))))
        return points

    def staleness(self):
        """Mean and largest number of others' pushes between a pull and its push; None where nothing is stale."""
        histogram = {int(pushes): count for pushes, count in self.summary.get("staleness", {}).items()}
        if not histogram:
            return None
        return sum(k * n for k, n in histogram.items()) / sum(histogram.values()), max(histogram)


def clock_text(seconds):
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    if hours:
        return f"{hours}:{minutes:02d}:{seconds:02.0f} h"
    return f"{minutes}:{seconds:04.1f} min" if minutes else f"{seconds:.2f} s"


def print_table(head, rows):
    """As Markdown, with columns of equal width."""
    table = [head, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(head))]

    def line(row):
        return "| " + " | ".join(cell.ljust(w) if i == 0 else cell.rjust(w)
                                 for i, (cell, w) in enumerate(zip(row, widths))) + " |"

    print(line(head))
    print("|" + "|".join("-" * (w + 2) for w in widths) + "|")
    for row in rows:
        print(line(row))
