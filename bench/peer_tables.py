#!/usr/bin/env python3
"""Measures Trireme beside PyTorch (`trireme bench step`, `train` and `input` with --peer pytorch), adds the results
to bench/peer_results.json, and makes the tables of docs/benchmarks.md from them (bench/tables.py).

    bench/peer_tables.py --python /opt/torch/bin/python
    bench/peer_tables.py --threads 1,8,16 --batch 256 --world 1,8,16        a larger machine
    bench/peer_tables.py --benches step --model resnet18 --note "under background load"

Each call of the program adds its results when it ends, so an interrupt loses one call, and one file collects the
results of several machines and versions of PyTorch. Other options go to every `trireme bench`, e.g. --peer-ways
layout,in-place. The program is the one that the environment variable TRIREME names, else build/trireme. Needs nothing
but Python's standard library.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile

import runs
import tables

STEP_MODELS = "lenet5,mnist-cnn,alexnet,resnet18,resnet50,resnet50-cifar,densenet40-12,resnet18-cifar," \
              "resnet56v2-cifar,redshift-cnn,landcover-cnn"
TRAIN_MODELS = "lenet5,resnet18,resnet50,alexnet"
BENCHES = ("step", "train", "input")
LEFT_OUT = ("ours", "theirs", "theirs_bf16", "profile")  # phases; the totals stand beside them


def machine():
    """For people: processor, cores that may be used, instruction set."""
    model, flags = "unknown processor", ""
    with open("/proc/cpuinfo") as info:
        for line in info:
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                model = value.strip()
            if name.strip() == "flags":
                flags = value.split()
    sets = [text for flag, text in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags][:1]
    bf16 = [text for flag, text in (("amx_bf16", "AMX"), ("avx512_bf16", "bf16 instructions")) if flag in flags]
    return ", ".join([model, f"{len(os.sched_getaffinity(0))} cores", *sets, *bf16])


def compact(result):
    """What tables and readers need of a result."""
    entry = {name: value for name, value in result.items() if name not in LEFT_OUT}
    if "memory_mb" in result.get("ours", {}):
        for name in ("memory_mb", "best_ms"):
            entry[name], entry["peer_" + name] = result["ours"].get(name), result["theirs"].get(name)
    return rounded(entry)


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def add(path, entries):
    results = []
    if os.path.exists(path):
        with open(path) as file:
            results = json.load(file)["results"]
    text = ",\n".join(json.dumps(entry) for entry in results + entries)
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
        file.write('{"results": [\n' + text + "\n]}\n")
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def calls(options):
    """(bench, arguments) of every call of the program."""
    benches = options.benches.split(",")
    for bench in benches:
        if bench not in BENCHES:
            runs.fail(f"--benches is '{options.benches}', expected some of {', '.join(BENCHES)}")
    batch = ["--batch", str(options.batch)] if options.batch else []
    if "step" in benches:
        for model in (options.model or STEP_MODELS).split(","):
            for threads in options.threads.split(","):
                yield "step", ["--model", model, "--threads", threads, *batch]
    if "train" in benches:
        for model in (options.model or TRAIN_MODELS).split(","):
            for world in options.world.split(","):
                yield "train", ["--model", model, "--world", world, *batch]
    if "input" in benches:
        yield "input", ["--data", options.data, *(["--data-dir", options.data_dir] if options.data_dir else [])]


def measure(bench, arguments, options, more):
    command = [runs.program(), "bench", bench, *arguments, "--peer", "pytorch", "--repeats", str(options.repeats),
               "--json", *(["--python", options.python] if options.python else []), *more]
    print(" ".join(command), file=sys.stderr, flush=True)
    finished = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if finished.returncode != 0:
        print(f"peer_tables.py: it ended with {finished.returncode}; the rest goes on", file=sys.stderr)
        return []
    about = {"bench": bench, "machine": options.machine or machine(), "cores": len(os.sched_getaffinity(0)),
             "date": datetime.date.today().isoformat(), **({"note": options.note} if options.note else {})}
    found = [{**about, **compact(result)} for result in json.loads(finished.stdout.splitlines()[-1])["results"]]
    for entry in found:
        print(f"  {entry.get('model', entry.get('data'))}: {entry.get('ratio', entry.get('why_no_ratio'))}, bf16 "
              f"{entry.get('ratio_bf16', 'not measured')}; {entry['peer_way']}", file=sys.stderr, flush=True)
        if tables.is_scattered(entry):
            print("  the machine was too busy: the tables leave this out; measure again", file=sys.stderr, flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--benches", default="step,train,input", help="what to measure (step,train,input)")
    parser.add_argument("--model", default="", help="networks, separated by commas (those of the tables)")
    parser.add_argument("--threads", default="1,2", help="numbers of threads, for step (1,2)")
    parser.add_argument("--world", default="1,2", help="numbers of processes with one thread each, for train (1,2)")
    parser.add_argument("--batch", type=int, default=0, help="samples of a process; 0: as in the studies")
    parser.add_argument("--data", default="cifar10", help="dataset, for input (cifar10)")
    parser.add_argument("--data-dir", default="", help="where the dataset is")
    parser.add_argument("--python", default="", help="interpreter with PyTorch; else as trireme finds it")
    parser.add_argument("--repeats", type=int, default=5, help="rounds, in which the two sides alternate (5)")
    parser.add_argument("--machine", default="", help="its name in the tables; else processor and cores")
    parser.add_argument("--note", default="", help="more text above the table")
    parser.add_argument("--results", default=tables.RESULTS, metavar="FILE", help="the file to add results to")
    parser.add_argument("--no-tables", action="store_true", help="do not write docs/benchmarks.md")
    options, more = parser.parse_known_args()
    is_whole = True
    for bench, arguments in calls(options):
        found = measure(bench, arguments, options, more)
        is_whole = is_whole and bool(found)
        if found:
            add(options.results, found)
    if not options.no_tables:
        subprocess.run([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables.py"),
                        "--results", options.results], check=True)
    sys.exit(0 if is_whole else 1)


if __name__ == "__main__":
    main()
