#!/usr/bin/env python3
"""Kills workers of small training runs at random moments and checks how the runs end.

For every strategy some runs lose one worker by SIGKILL, and others two workers 0 to 0.6 s apart. Everything random
follows from --seed. A run must
  - end within 20 s of the kill, or finish, where the strategy survives the loss of a worker;
  - name the killed worker and no other, and leave no process behind;
  - have no crash of another process (in a sanitizer's build: no report);
  - be resumable, and end with the weights of the undisturbed run where the strategy is synchronous.
Prints a table; exit code 1 if something was found. Needs Python's standard library and a built program:

  tests/kill_loop.py                                       # 10 kills per strategy, 10 double kills
  tests/kill_loop.py --kills 50 --double-kills 50 --seed 7
  tests/kill_loop.py --program build-asan/trireme --kills 3 --strategies groups,async
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

RUN = ("--model lenet5 --data synthetic --train-samples 640 --test-samples 100 --batch 32 --oars 8 --threads 1 "
       "--checkpoint-every 7 --json --quiet").split()
EPOCHS = 12  # at first; more where a run is shorter than RUN_SECONDS, so that most kills find it under way
RUN_SECONDS = 1.5
START_SECONDS = 0.4  # one run in six is hit in this time after the start of its processes, the others while they train
GO_ON_SECONDS = 20  # a run must end within this time of a kill
LEFT_SECONDS = 5  # a process of the run may need this long to vanish after the launcher
DOUBLE_SECONDS = 0.6  # between two kills
# What a process says that failed by itself, and not because another one is gone.
OWN_FAULTS = re.compile(r"internal error|Sanitizer|runtime error:|terminate called|SIG(ABRT|SEGV|BUS|FPE|ILL|TRAP)"
                        r"|did not end within")


class Strategy:
    def __init__(self, name, options, servers=0, same_bits=True, goes_on=False):
        self.name = name
        self.options = options.split()
        self.servers = servers  # processes before those of the workers
        self.same_bits = same_bits  # a resumed run ends with the weights of the undisturbed one
        self.goes_on = goes_on  # without a worker that is lost


STRATEGIES = [
    Strategy("groups", "--workers 4 --strategy groups:count=2", servers=1, same_bits=False, goes_on=True),
    Strategy("async", "--workers 3 --servers 2 --strategy ps:mode=async", servers=2, same_bits=False, goes_on=True),
    Strategy("ssp", "--workers 3 --strategy ps:mode=ssp,staleness=1", servers=1, same_bits=False, goes_on=True),
    Strategy("dssp", "--workers 3 --server-place worker --strategy ps:mode=dssp,low=1,high=4", same_bits=False,
             goes_on=True),
    Strategy("allreduce", "--workers 4 --strategy allreduce"),
    Strategy("ps", "--workers 3 --servers 2 --strategy ps", servers=2),
    Strategy("local", "--workers 3 --strategy local:every=4"),
    Strategy("switch", "--workers 3 --strategy switch:at=30%,from=allreduce,to=ps,at=60%,to=allreduce", servers=1),
]


class Outcome:
    """How a run ended, and what was wrong with that."""

    def __init__(self):
        self.killed = 0
        self.went_on = False  # to its end, without the lost worker
        self.code = None
        self.errors = ""
        self.seconds = 0.0  # from the last kill to the end
        self.resumed = False
        self.findings = []


def processes_of(launcher):
    """The processes that a launcher has started, by rank."""
    try:
        return [int(word) for word in pathlib.Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()]
    except OSError:
        return []


def is_gone(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def last_json(text):
    for line in reversed(text.splitlines()):
        try:
            return json.loads(line)
        except ValueError:
            continue
    return {}


def sleep_until(moment, launcher):
    """Until the moment, or the end of the launcher."""
    while time.monotonic() < moment and launcher.poll() is None:
        time.sleep(min(0.005, max(0.0, moment - time.monotonic())))


def environment(reports):
    """Reports of sanitizers go to files, since a launcher passes on only what the cause of a failure says."""
    variables = dict(os.environ)
    for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"):
        variables[name] = ":".join(filter(None, [variables.get(name), f"log_path={reports}"]))
    return variables


def train(program, options, seconds):
    """A run that nobody disturbs: its exit code, and what it printed."""
    try:
        done = subprocess.run([program, "train", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=seconds, check=False)
    except subprocess.TimeoutExpired as late:
        return None, "", (late.stderr or b"").decode(errors="replace")
    return done.returncode, done.stdout, done.stderr


def kill_run(program, strategy, options, run, after_begin, kills, whole_seconds):
    """Starts a run, kills workers at the given moments [(seconds, choice), ...], and looks at how it ends. Moments
    count from the start of the processes, or from when they have begun to train."""
    outcome = Outcome()
    output, errors = run.with_suffix(".out"), run.with_suffix(".err")
    with open(output, "w", encoding="utf-8") as out, open(errors, "w", encoding="utf-8") as err:
        launcher = subprocess.Popen([program, "train", *options, "--run", str(run)], stdin=subprocess.DEVNULL,
                                    stdout=out, stderr=err, env=environment(run.with_suffix(".report")))
        if after_begin:
            while not (run / "run.json").exists() and launcher.poll() is None:
                time.sleep(0.002)
        start = time.monotonic()
        everybody, victims = [], {}
        for seconds, choice in kills:
            sleep_until(start + seconds, launcher)
            everybody = processes_of(launcher.pid) or everybody
            workers = [(rank - strategy.servers, process) for rank, process in enumerate(everybody)
                       if rank >= strategy.servers and process not in victims and not is_gone(process)]
            if not workers or launcher.poll() is not None:
                continue
            worker, process = workers[choice % len(workers)]
            os.kill(process, signal.SIGKILL)
            victims[process] = worker
        killed_at = time.monotonic()
        outcome.killed = len(victims)
        deadline = GO_ON_SECONDS + (4 * whole_seconds if strategy.goes_on else 0)
        try:
            outcome.code = launcher.wait(deadline)
        except subprocess.TimeoutExpired:
            outcome.findings.append(f"still running {deadline:.0f} s after the kill")
            launcher.kill()
            launcher.wait()
        outcome.seconds = time.monotonic() - killed_at
    for process in everybody:
        end = time.monotonic() + LEFT_SECONDS
        while not is_gone(process) and time.monotonic() < end:
            time.sleep(0.01)
        if not is_gone(process):
            outcome.findings.append(f"process {process} is left")
            os.kill(process, signal.SIGKILL)
    outcome.errors = errors.read_text(encoding="utf-8", errors="replace")
    outcome.went_on = outcome.code == 0
    for report in sorted(run.parent.glob(run.name + ".report.*")):
        outcome.findings.append(f"a sanitizer's report, {report}")
    if outcome.code is not None and victims:
        judge(outcome, run, victims, everybody)
        if outcome.code == 0:
            judge_finished(outcome, run, last_json(output.read_text(encoding="utf-8", errors="replace")))
    return outcome


def judge(outcome, run, victims, everybody):
    """Exit code, culprit, and whether anybody else failed."""
    find = outcome.findings.append
    text = outcome.errors
    if outcome.code not in (0, 1):
        find(f"exit code {outcome.code}")
    for line in text.splitlines():
        if OWN_FAULTS.search(line):
            find(f"says: {line}")
    lines = [line for line in text.splitlines() if re.search(r"(warning|trireme): ", line)]
    named = [process for process in victims if f"(process {process}" in text]
    if outcome.code == 1 and not (lines and any(f"(process {process}" in lines[-1] for process in victims)):
        find("the last line does not name the killed worker")
    if outcome.code == 0 and text and not named:
        find("what it says does not name the killed worker")
    for process in everybody:
        if process not in victims and re.search(rf"\(process {process}[^)]*\) (was killed|ended|has|is gone)", text):
            find(f"blames process {process}, which was not killed")


def judge_finished(outcome, run, summary):
    """A run that went on to its end has its summary, used every sample, and lost nobody but those that were killed."""
    if not (run / "summary.json").exists():
        outcome.findings.append("ended with exit code 0, but has no summary")
    if len(summary.get("lost", [])) > outcome.killed:
        outcome.findings.append(f"lost {len(summary['lost'])} workers, but {outcome.killed} were killed")
    for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines():
        epoch = json.loads(line)
        if epoch.get("type") == "epoch" and epoch["ledger"]["missed"] != 0:
            outcome.findings.append(f"epoch {epoch['epoch']} missed {epoch['ledger']['missed']} samples")


def check_resume(program, strategy, run, outcome, expected, whole_seconds):
    if outcome.code != 1 or not (run / "run.json").exists():
        return
    code, out, err = train(program, ["--resume", str(run), "--json", "--quiet"], 60 + 10 * whole_seconds)
    if code is None:
        outcome.findings.append("the resumed run hangs")
    elif code != 0:
        outcome.findings.append(f"cannot be resumed, exit code {code}: {err.strip()}")
    elif strategy.same_bits and last_json(out).get("weights_sha256") != expected:
        outcome.findings.append("the resumed run has other weights than the undisturbed one")
    outcome.resumed = code == 0


class Row:
    """A line of the table."""

    def __init__(self, name):
        self.name = name
        self.runs = self.killed = self.went_on = self.ended = self.resumed = 0
        self.longest = 0.0
        self.findings = []

    def add(self, outcome):
        self.runs += 1
        self.killed += outcome.killed
        self.went_on += outcome.killed > 0 and outcome.went_on
        self.ended += outcome.killed > 0 and not outcome.went_on
        self.resumed += outcome.resumed
        if outcome.killed and not outcome.went_on:
            self.longest = max(self.longest, outcome.seconds)

    def text(self):
        return (f"{self.name:<18} {self.runs:5} {self.killed:7} {self.went_on:8} {self.ended:6} {self.longest:9.1f} s "
                f"{self.resumed:8} {len(self.findings):9}")


TITLE = f"{'':<18} {'runs':>5} {'killed':>7} {'finished':>8} {'ended':>6} {'after':>11} {'resumed':>8} {'findings':>9}"


def parse():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(here.parent / "build" / "trireme"), help="default: build/trireme")
    parser.add_argument("--kills", type=int, default=10, help="runs of each strategy that lose one worker (10)")
    parser.add_argument("--double-kills", type=int, default=None, metavar="N",
                        help="runs that lose two workers, shared out over the strategies (as --kills)")
    parser.add_argument("--strategies", default=",".join(one.name for one in STRATEGIES),
                        help="some of: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="everything random follows from it (1)")
    parser.add_argument("--resume-every", type=int, default=1, metavar="N", help="resume every Nth run that ended (1)")
    parser.add_argument("--keep", metavar="DIR", help="keep run folders and output there (default: only of findings)")
    return parser.parse_args()


class Loop:
    def __init__(self, options):
        self.options = options
        self.program = options.program
        self.random = random.Random(options.seed)
        self.folder = pathlib.Path(options.keep or tempfile.mkdtemp(prefix="trireme-kill-loop-"))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.undisturbed = {}  # by strategy: options, seconds and weights
        self.ended = self.number = 0

    def reference(self, strategy):
        epochs = EPOCHS
        while strategy.name not in self.undisturbed:
            run = self.folder / f"{strategy.name}-undisturbed-{epochs}"
            options = [*RUN, "--epochs", str(epochs), *strategy.options]
            code, out, err = train(self.program, [*options, "--run", str(run)], 600)
            if code != 0:
                sys.exit(f"kill_loop.py: a run of {strategy.name} fails without any kill: {err.strip()}")
            seconds = last_json(out)["seconds"]["total"]
            if seconds < RUN_SECONDS and epochs < 16 * EPOCHS:
                epochs *= 2
                continue
            self.undisturbed[strategy.name] = (options, seconds, last_json(out).get("weights_sha256"))
        return self.undisturbed[strategy.name]

    def one(self, strategy, row, doubles):
        options, seconds, weights = self.reference(strategy)
        after_begin = self.random.randrange(6) > 0
        latest = 0.9 * seconds if after_begin else START_SECONDS
        kills = [(self.random.uniform(0, latest), self.random.randrange(1 << 30))]
        if doubles:
            kills.append((kills[0][0] + self.random.uniform(0, DOUBLE_SECONDS), self.random.randrange(1 << 30)))
        transport = self.random.choice([[], [], ["--transport", "tcp"]])
        if strategy.name != "local":  # a time would change its weights, and is refused
            transport = transport + self.random.choice([[], ["--checkpoint-every", "0.05s"]])
        self.number += 1
        run = self.folder / f"{row.name.replace(' ', '-')}-{self.number}"
        outcome = kill_run(self.program, strategy, [*options, *transport], run, after_begin, kills, seconds)
        if outcome.code == 1:
            self.ended += 1
            if self.ended % self.options.resume_every == 0:
                check_resume(self.program, strategy, run, outcome, weights, seconds)
        row.add(outcome)
        moments = ", ".join(f"{moment:.3f} s" for moment, _ in kills) + (" of training" if after_begin else "")
        for finding in outcome.findings:
            row.findings.append(f"{run.name} ({' '.join(strategy.options + transport)}; kill after {moments}): {finding}")
        if outcome.findings:
            print("\n".join(row.findings[-len(outcome.findings):]), flush=True)
            if outcome.errors:
                print("    " + outcome.errors.strip().replace("\n", "\n    "), flush=True)
        elif not self.options.keep:
            shutil.rmtree(run, ignore_errors=True)
            for suffix in (".out", ".err"):
                run.with_suffix(suffix).unlink(missing_ok=True)

    def run(self):
        known = {one.name: one for one in STRATEGIES}
        names = self.options.strategies.split(",")
        for name in names:
            if name not in known:
                sys.exit(f"kill_loop.py: there is no strategy '{name}'; known are {', '.join(known)}")
        doubles = self.options.kills if self.options.double_kills is None else self.options.double_kills
        print(TITLE, flush=True)
        rows = []
        for name in names if self.options.kills > 0 else []:
            rows.append(Row(name))
            for _ in range(self.options.kills):
                self.one(known[name], rows[-1], False)
            print(rows[-1].text(), flush=True)
        if doubles > 0:
            rows.append(Row("two workers"))
            for number in range(doubles):
                self.one(known[names[number % len(names)]], rows[-1], True)
            print(rows[-1].text(), flush=True)
        findings = sum(len(row.findings) for row in rows)
        print(f"{sum(row.killed for row in rows)} kills from seed {self.options.seed}: "
              f"{findings or 'no'} finding{'' if findings == 1 else 's'}"
              + (f"; runs and output are in {self.folder}" if findings or self.options.keep else ""))
        if not findings and not self.options.keep:
            shutil.rmtree(self.folder, ignore_errors=True)
        return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(Loop(parse()).run())
