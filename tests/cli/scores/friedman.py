"""The regression problem of Friedman 1991 in scikit-learn, as its users solve it.

friedman.py FOLDER SEED...: writes FOLDER/SEED/train.csv and test.csv, fits MLPRegressor on the same rows, and prints one
JSON object: the mean R2 over the seeds with its default settings, with enough iterations, and of the function itself,
which misses only the noise.
"""

import csv
import json
import os
import sys
import warnings

import numpy
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

warnings.filterwarnings("ignore", category=ConvergenceWarning)  # that 200 iterations are too few is known


def write_table(path, inputs, targets):
    with open(path, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow([f"x{i}" for i in range(inputs.shape[1])] + ["y"])
        for row, target in zip(inputs, targets):
            table.writerow([*row, target])


def friedman(x):
    return 10 * numpy.sin(numpy.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]


def r2(seed, parts, **settings):
    train_x, test_x, train_y, test_y = parts
    model = make_pipeline(StandardScaler(), MLPRegressor(random_state=seed, **settings))
    return model.fit(train_x, train_y).score(test_x, test_y)


def main():
    default, tuned, truth = [], [], []
    for seed in map(int, sys.argv[2:]):
        inputs, targets = make_friedman1(n_samples=5000, noise=1.0, random_state=seed)
        parts = train_test_split(inputs, targets, test_size=0.2, random_state=seed)
        folder = os.path.join(sys.argv[1], str(seed))
        os.makedirs(folder)
        write_table(os.path.join(folder, "train.csv"), parts[0], parts[2])
        write_table(os.path.join(folder, "test.csv"), parts[1], parts[3])
        default.append(r2(seed, parts))
        tuned.append(r2(seed, parts, max_iter=500))
        truth.append(r2_score(parts[3], friedman(parts[1])))
    print(json.dumps({"default": numpy.mean(default), "tuned": numpy.mean(tuned), "truth": numpy.mean(truth)}))


main()
