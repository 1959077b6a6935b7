#!/usr/bin/env python3
"""Writes the tables of the documentation that the program itself prints: options, models, datasets, ops, and so on.

    scripts/docs_tables.py            rewrites the regions <!-- generated: NAME --> ... <!-- end --> of all pages
    scripts/docs_tables.py --check    writes nothing; exit code 1 when a page and the program differ

The program is --program, else the environment variable TRIREME, else build/trireme. Every table has one place in the
pages: one that is nowhere is an error, and so is a region with an unknown name. Needs nothing but Python's standard
library.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import textwrap

from generated import table, with_region

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAME = re.compile(r"<!-- generated: (.*?) -->")


def cell(text):
    """Text that the program prints, as a cell: no character of it is Markdown."""
    return re.sub(r"([|<])", r"\\\1", text)


def code(text):
    return "`" + text.replace("|", r"\|") + "`" if text else ""


def option_tables(help_text):
    """A table for each group of options of a verb's --help."""
    groups = []
    for line in help_text.splitlines():
        if re.fullmatch(r"\S.*:", line) and not line.startswith(("Usage", "Example", "Options", "Positionals")):
            groups.append((line[:-1], []))
        elif match := re.fullmatch(r"  (--\S+(?: \S+)?)(?:\s{2,}(.*))?", line):
            groups[-1][1].append([match[1], match[2] or ""])
        elif (match := re.fullmatch(r"\s{20,}(\S.*)", line)) and groups and groups[-1][1]:
            groups[-1][1][-1][1] = (groups[-1][1][-1][1] + " " + match[1]).strip()
    lines = []
    for title, options in groups:
        rows = []
        for option, meaning in options:
            meaning, default = re.fullmatch(r"(.*?)(?: \(default (\S+)\))?", meaning).groups()
            rows.append([code(option), code(default), cell(meaning)])
        lines += ["", f"**{title}**", "", *table(["option", "default", "meaning"], rows)]
    return lines + [""]


def names_and_options(listing):
    """[(name, summary, [(option, meaning)])] of a list with indented options."""
    found = []
    for line in listing.splitlines():
        name, meaning = line.split(None, 1)
        if line.startswith("  "):
            found[-1][2].append((name, meaning))
        else:
            found.append((name, meaning, []))
    return found


def rows_with_options(kind, listing):
    """A region for each row of a list with options: what it is, and what its options mean."""
    regions = {}
    for name, summary, options in names_and_options(listing):
        lines = ["", *textwrap.wrap(f"`{name}`: {cell(summary)}.", 120, break_long_words=False)]
        if options:
            lines += ["", *table(["option", "meaning"], [[code(option), cell(meaning)] for option, meaning in options])]
        regions[f"{kind} {name}"] = lines + [""]
    return regions


def pairs(lines):
    return [[code(name), cell(meaning)] for name, meaning in (line.split(None, 1) for line in lines)]


def two_columns(head, lines):
    return ["", *table(head, pairs(lines)), ""]


def models(listing):
    rows = [re.fullmatch(r"(\S+)\s+(.*?)\s+(\d+)\s+(\d+)\s+(\d+)  (.*)", line).groups()
            for line in listing.splitlines()[1:]]
    return ["", *table(["model", "input", "classes", "parameters", "batch", "what it is"],
                       [[code(name), shapes.replace(" ", ", "), *counts, cell(what)]
                        for name, shapes, *counts, what in rows]), ""]


def optimizers(paragraph):
    lines = paragraph.splitlines()
    rows = [[code(first.split()[0]), code(text.strip()), cell(first.split(None, 1)[1])]
            for first, text in zip(lines[::2], lines[1::2])]
    return ["", *table(["name", "with all its options", "what it is"], rows), ""]


def schedules(paragraph):
    rows = [line.strip().split(": ", 1) for line in paragraph.splitlines()[1:]]
    return ["", *table(["schedule", "learning rate"], [[code(form), cell(meaning)] for form, meaning in rows]), ""]


def regions_of(program):
    """{name of a region: its lines} from what the program prints."""
    def run(*arguments):
        return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout

    def listed(what):
        return run("list", what)

    verbs = re.search(r"Subcommands:\n((?:  .*\n)+)", run("--help"))[1].splitlines()
    regions = {"verbs": two_columns(["verb", "what it does"], verbs)}
    for verb in (line.split()[0] for line in verbs):
        if verb != "list":  # has no options
            regions[f"options {verb}"] = option_tables(run(verb, "--help"))
    rows, options = listed("models").split("\n\n")
    regions["models"] = models(rows)
    regions |= rows_with_options("model", options.split("\n", 1)[1])
    regions |= rows_with_options("op", listed("ops"))
    strategies = listed("strategies").split("\n\n")[0]
    regions |= rows_with_options("strategy", strategies)
    regions["strategies"] = ["", *table(["`--strategy`", "what it does"],
                                        [[code(name), cell(summary)] for name, summary, _ in
                                         names_and_options(strategies)]), ""]
    datasets, formats, codecs, schemes = listed("datasets").split("\n\n")
    regions["datasets"] = two_columns(["dataset", "what it is"], datasets.splitlines())
    # Names of formats have single spaces.
    regions["formats"] = ["", *table(["format", "what is read"],
                                     [map(cell, re.split(r"\s{2,}", line)) for line in formats.splitlines()[1:]]), ""]
    regions["codecs"] = two_columns(["ending", "what is read"], codecs.splitlines()[1:])
    regions["distribute"] = two_columns(["scheme", "a worker's samples"], schemes.splitlines()[1:])
    regions["augmentations"] = two_columns(["change", "what it does"], listed("augmentations").splitlines())
    rules, forms = listed("optimizers").split("\n\n")
    regions["optimizers"] = optimizers(rules)
    regions["schedules"] = schedules(forms)
    regions["transports"] = two_columns(["transport", "what carries messages"], listed("transports").splitlines())
    regions["sinks"] = two_columns(["sink", "what it makes"], listed("sinks").splitlines())
    return regions


def pages():
    return [os.path.join(REPOSITORY, "README.md"), *sorted(glob.glob(os.path.join(REPOSITORY, "docs", "*.md")))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", metavar="FILE", help="the program to ask",
                        default=os.environ.get("TRIREME") or os.path.join(REPOSITORY, "build", "trireme"))
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 when something differs")
    options = parser.parse_args()
    try:
        regions = regions_of(options.program)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"docs_tables.py: {error}; build the program with 'make build' or name it with --program")
    placed, differing = set(), []
    for path in pages():
        with open(path) as file:
            page = file.read()
        wanted = page
        for name in NAME.findall(page):
            if name not in regions:
                sys.exit(f"docs_tables.py: {path}: there is nothing called '{name}' to generate; there are: "
                         + ", ".join(regions))
            placed.add(name)
            wanted = with_region(wanted, f"generated: {name}", "\n".join(regions[name]) + "\n")
            if wanted is None:
                sys.exit(f"docs_tables.py: {path}: <!-- generated: {name} --> has no <!-- end -->")
        if wanted != page:
            differing.append(os.path.relpath(path, REPOSITORY))
            if not options.check:
                with open(path, "w") as file:
                    file.write(wanted)
    if missing := set(regions) - placed:
        sys.exit("docs_tables.py: no page has a region for: " + ", ".join(sorted(missing))
                 + "; add <!-- generated: NAME --> and <!-- end --> where it belongs")
    if differing and options.check:
        sys.exit(f"docs_tables.py: {', '.join(differing)}: not what the program prints; run 'make docs'")


if __name__ == "__main__":
    main()
