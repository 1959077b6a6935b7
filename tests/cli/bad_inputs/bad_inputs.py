#!/usr/bin/env python3
"""Gives the program the inputs of rows/*.rows, each of them wrong, and checks how it refuses them.

For every row the program must
  - end by itself within some seconds, with exit code 2 (or the code that the row names);
  - say one sentence on standard error, one line that begins with "trireme: " and has the row's words in it, and
    nothing on standard output;
  - leave every file as it was, and no new one;
  - not speak of itself: no "internal error", no C++ exception, no report of a sanitizer.
Prints the rows that fail; exit code 1 if there are any. Needs Python's standard library and a built program:

  tests/cli/bad_inputs/bad_inputs.py --program build/trireme
  tests/cli/bad_inputs/bad_inputs.py --only 'train $net broken' --show       # rows with this text; what each says

A row is `WORDS -> PART; PART`, or `WORDS ->1 PART; PART` for another exit code. WORDS are the command line as a shell
reads it, behind `trireme`. `$name` stands for a list of words (defined by lines `$name = WORDS`), `<FILE` at the end is
standard input, and `@nobody` at the beginning runs the program as a user without rights. files.py makes the files.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import files

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 60  # generous, for sanitizers on a busy machine
OF_ITSELF = re.compile(r"internal error|bad_alloc|std::|what\(\)|Sanitizer|runtime error:|terminate called|\[json|"
                       r"exception|Assertion|basic_string|errno|core dumped|SIG[A-Z]{3,}")
NOBODY = 65534


class Row:
    def __init__(self, where, text, macros):
        self.where, self.text = where, text
        line, _, expected = text.partition(" ->")
        code, _, parts = expected.partition(" ")
        self.code = int(code or 2)
        self.parts = [part.strip() for part in parts.split(";") if part.strip()]
        if not self.parts:
            raise SystemExit(f"{where}: a row needs ' -> ' and the words that the sentence must have")
        words = []
        for word in shlex.split(line):
            words += macros[word] if word in macros else [word]
        self.as_nobody = words[0] == "@nobody"
        self.input = words[-1][1:] if words[-1].startswith("<") else "/dev/null"
        self.words = [word for word in words if word != "@nobody" and not word.startswith("<")]


def read_rows(folder):
    rows, macros = [], {}
    for path in sorted(folder.glob("*.rows")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if re.match(r"\$[\w-]+ = ", line):
                name, _, words = line.partition(" = ")
                macros[name] = [part for word in shlex.split(words) for part in macros.get(word, [word])]
            else:
                rows.append(Row(f"{path.name}:{number}", line, macros))
    return rows


def snapshot(folder):
    """Every path with what changes when somebody writes there."""
    found = {}
    for entry in os.scandir(folder):
        status = entry.stat(follow_symlinks=False)
        is_folder = entry.is_dir(follow_symlinks=False)
        found[entry.path] = (status.st_mode, status.st_ino) if is_folder else (
            status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        if is_folder:
            found.update(snapshot(entry.path))
    return found


def remove(paths):
    for path in sorted(paths, reverse=True):
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        else:
            os.unlink(path)


def run(program, row, folder):
    environment = {name: value for name, value in os.environ.items() if name != "TRIREME_DATA"}
    environment["HOME"] = str(folder)

    def before():
        if row.as_nobody:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

    # A group of its own, so that nothing outlives a row.
    with open(folder / row.input, "rb") as given:
        child = subprocess.Popen([program, *row.words], cwd=folder, env=environment, stdin=given,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                                 preexec_fn=before if row.as_nobody else None)
    try:
        out, err = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        return None, out.decode(errors="replace"), err.decode(errors="replace")
    return child.returncode, out.decode(errors="replace"), err.decode(errors="replace")


def faults_of(row, code, out, err, before, after):
    lines = err.splitlines()
    if code is None:
        yield f"does not end within {SECONDS} s"
    elif code != row.code:
        yield f"ends with {code}, expected {row.code}"
    if len(lines) != 1 or not err.endswith("\n"):
        yield f"says {len(lines)} lines, expected 1"
    if lines and not lines[0].startswith("trireme: "):
        yield "does not begin with 'trireme: '"
    if out:
        yield "writes to standard output"
    if spoken := OF_ITSELF.search(err):
        yield f"speaks of itself: '{spoken.group()}'"
    for part in row.parts:
        if part not in err:
            yield f"does not say '{part}'"
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            how = "makes" if path not in before else "removes" if path not in after else "changes"
            yield f"{how} {path}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/trireme")
    parser.add_argument("--only", default="", help="rows with this text")
    parser.add_argument("--show", action="store_true", help="print what each row says")
    parser.add_argument("--keep", help="make the files in this new folder, and keep it")
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    rows = [row for row in read_rows(HERE / "rows") if arguments.only in row.text]
    folder = pathlib.Path(arguments.keep or tempfile.mkdtemp(prefix="bad-inputs-")).resolve()
    if os.geteuid() != 0:
        print("skips rows with @nobody: only root can become another user")
        rows = [row for row in rows if not row.as_nobody]
    failed, begin = 0, time.monotonic()
    try:
        files.make_files(folder, program)
        before = snapshot(folder)
        for row in rows:
            start = time.monotonic()
            code, out, err = run(program, row, folder)
            seconds = time.monotonic() - start
            after = snapshot(folder)
            faults = list(faults_of(row, code, out, err, before, after))
            if after != before:
                remove(after.keys() - before.keys())
                before = snapshot(folder)
            if faults or arguments.show:
                print(f"{row.where}: {row.text}   ({seconds:.2f} s)\n    {err.strip()[:1500]}")
            for fault in faults[:8]:
                print(f"    FAILS: {fault}" + (f": {out[:200]!r}" if fault.startswith("writes") else ""))
            failed += bool(faults)
    finally:
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(rows)} bad inputs, {failed} not refused as they should be, {time.monotonic() - begin:.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
