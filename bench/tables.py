#!/usr/bin/env python3
"""Makes the tables of docs/benchmarks.md from the results that bench/peer_tables.py has collected.

    bench/tables.py             writes them between the page's marks, e.g. <!-- peer results: step --> and <!-- end -->
    bench/tables.py --check     writes nothing; exit code 1 when the page has other tables

Of two measurements of the same thing on the same machine with the same PyTorch, the newer one counts. The newest
PyTorch comes first. Results without a ratio are left out, and so are those of a busy machine: where a median is more
than 1.5 times the fastest round. Needs nothing but Python's standard library.
"""

import argparse
import json
import math
import os
import re
import sys
import textwrap

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(REPOSITORY, "scripts"))
from generated import table, with_region  # noqa: E402
RESULTS = os.path.join(REPOSITORY, "bench", "peer_results.json")
PAGE = os.path.join(REPOSITORY, "docs", "benchmarks.md")
MOST_SCATTER = 1.5
IDENTITY = ("bench", "machine", "peer_version", "model", "data", "batch", "threads", "world", "oars")


def version_number(entry):
    """(2, 15, 0) of 2.15.0+cpu."""
    return tuple(int(number) for number in re.findall(r"\d+", entry["peer_version"].split("+")[0])[:3])


def is_scattered(entry):
    """Whether the median of either side is far above its fastest round."""
    sides = ((entry.get("ours_ms"), entry.get("best_ms")), (entry.get("peer_ms"), entry.get("peer_best_ms")))
    return any(best and median > MOST_SCATTER * best for median, best in sides)


def newest(results, bench):
    """The results of this bench that count, the newest of each thing measured, in the order of measuring."""
    last = {}
    for entry in results:
        if entry["bench"] == bench and "ratio" in entry and not is_scattered(entry):
            key = tuple(entry.get(field) for field in IDENTITY)
            last.pop(key, None)
            last[key] = entry
    return list(last.values())


def groups(entries):
    """[(what they have in common, entries)]: one table each, the newest PyTorch first."""
    found = {}
    for entry in entries:
        found.setdefault((version_number(entry), entry["cores"], entry["machine"]), []).append(entry)
    return [(key[2], found[key]) for key in sorted(found, reverse=True)]


def three_digits(value):
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}" if value < 1000 else f"{value:.0f}"


def times(value):
    return f"{value:.2f}"


def way(text):
    """Without the BLAS, which stands above the table."""
    return re.sub(r", BLAS \w+", "", text)


def blas_of(entries):
    found = {match for entry in entries for match in re.findall(r"BLAS (\w+)", entry["peer_way"])}
    return f" with {' or '.join(sorted(found))}" if found else ""


def caption(machine, entries):
    notes = sorted({entry["note"] for entry in entries if entry.get("note")})
    dates = sorted({entry["date"] for entry in entries})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    versions = sorted({entry["peer_version"].split("+")[0] for entry in entries})
    return f"**PyTorch {' and '.join(versions)}**{blas_of(entries)}, {machine}, {when}" + \
        "".join(f"; {note}" for note in notes) + ":"


def spread(ratios):
    mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
    return f"{min(ratios):.2f} to {max(ratios):.2f} (geometric mean {mean:.2f})"


def in_words(entries):
    lines = []
    for threads in sorted({entry["threads"] for entry in entries}):
        of_these = [entry for entry in entries if entry["threads"] == threads]
        if len(of_these) < 2:
            continue
        line = f"{threads} thread{'s' if threads > 1 else ''}: {spread([entry['ratio'] for entry in of_these])} times " \
               f"as fast as PyTorch's best float32 way"
        bf16 = [entry["ratio_bf16"] for entry in of_these if "ratio_bf16" in entry]
        lines.append(line + (f", {spread(bf16)} times as fast as its best bf16 way." if bf16 else "."))
    return lines


def bf16_cells(entry):
    if "peer_bf16_ms" not in entry:
        return ["", "", ""]
    return [three_digits(entry["peer_bf16_ms"]), times(entry["ratio_bf16"]), way(entry["peer_bf16_way"])]


def float32_cells(entry):
    return [three_digits(entry["peer_ms"]), f"**{times(entry['ratio'])}**", way(entry["peer_way"])]


FLOAT32 = ["PyTorch float32 ms", "ratio", "its way"]
BF16 = ["PyTorch bf16 ms", "ratio to bf16", "its way"]


def step_rows(entry):
    return [entry["model"], entry["batch"], entry["threads"], three_digits(entry["ours_ms"]), *float32_cells(entry),
            *bf16_cells(entry), f"{entry['memory_mb']:.0f} / {entry['peer_memory_mb']:.0f}"]


def train_rows(entry):
    return [entry["model"], f"{entry['world']} x {entry['threads']}", entry["batch"], entry["oars"],
            three_digits(entry["ours_ms"]), f"{entry['samples_per_second']:.0f}", *float32_cells(entry),
            *bf16_cells(entry)]


def input_rows(entry):
    alone = [one["samples_per_second"] for one in entry["peer_ways"]
             if one["way"].startswith("samples") and "samples_per_second" in one]
    return [os.path.basename(entry["data"]), entry["batch"], f"{entry['samples_per_second'] / 1e3:.0f}",
            f"{entry['peer_samples_per_second'] / 1e3:.0f}", f"**{times(entry['ratio'])}**", entry["peer_way"],
            f"{max(alone) / 1e3:.0f}" if alone else "", f"{three_digits(entry['first_batch_ms'])} / "
            f"{three_digits(entry['peer_first_batch_ms'])}"]


TABLES = {
    "step": (["network", "batch", "threads", "ours ms", *FLOAT32, *BF16, "memory ours / PyTorch MB"], step_rows, True),
    "train": (["network", "processes x threads", "batch", "V", "ours ms", "samples/s", *FLOAT32, *BF16], train_rows,
              True),
    "input": (["data", "batch", "ours, thousand samples/s", "PyTorch", "ratio", "its way", "sample by sample",
               "first batch ms, ours / PyTorch"], input_rows, False),
}


def wrapped(text):
    return textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)


def tables_of(results, bench):
    head, cells, has_words = TABLES[bench]
    lines = []
    for machine, entries in groups(newest(results, bench)):
        lines += ["", *wrapped(caption(machine, entries)), "", *table(head, [cells(entry) for entry in entries])]
        if has_words and (words := in_words(entries)):
            lines += ["", *(line for sentence in words for line in wrapped(sentence))]
    return "\n".join(lines or ["", "Nothing has been measured in all ways yet."]) + "\n\n"


def with_tables(page, results):
    for bench in TABLES:
        page = with_region(page, f"peer results: {bench}", tables_of(results, bench))
        if page is None:
            sys.exit(f"tables.py: the page has no <!-- peer results: {bench} --> with an <!-- end --> after it")
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default=RESULTS, metavar="FILE", help="the measured results")
    parser.add_argument("--page", default=PAGE, metavar="FILE", help="the page with the tables")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the tables differ")
    options = parser.parse_args()
    with open(options.results) as file:
        results = json.load(file)["results"]
    with open(options.page) as file:
        page = file.read()
    wanted = with_tables(page, results)
    if options.check:
        sys.exit(0 if wanted == page else f"tables.py: {options.page} has other tables than {options.results} makes; "
                                          "run bench/tables.py")
    with open(options.page, "w") as file:
        file.write(wanted)


if __name__ == "__main__":
    main()
