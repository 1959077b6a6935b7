"""Shared by the scripts in this folder: the program, data in memory, runs of `trireme train`, and their step times.

Needs nothing but Python's standard library.
"""

import atexit
import contextlib
import json
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

REPOSITORY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUN_SECONDS = 1800  # a run that takes longer hangs

# name: (shape of a sample, samples of one worker's batch in the studies)
MODELS = {
    "lenet5": ((3, 32, 32), 42),
    "resnet18": ((3, 32, 32), 42),
    "resnet50-cifar": ((3, 32, 32), 26),
    "densenet40-12": ((1, 28, 28), 26),
    "alexnet": ((3, 64, 64), 42),
    "resnet50": ((3, 32, 32), 42),
    "mnist-cnn": ((1, 28, 28), 32),
    "resnet18-cifar": ((3, 32, 32), 42),
    "resnet20-cifar": ((3, 32, 32), 42),
    "resnet56v2-cifar": ((3, 32, 32), 26),
}
CLASSES = 10


started = []  # processes; whoever ends early leaves none behind


@atexit.register
def kill_all():
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def start(command, cpus, **more):
    started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                    preexec_fn=lambda: os.sched_setaffinity(0, cpus), **more))
    return started[-1]


def fail(sentence, code=2):
    print(f"{os.path.basename(sys.argv[0])}: {sentence}", file=sys.stderr)
    sys.exit(code)


def models_of(text):
    names = text.split(",")
    for name in names:
        if name not in MODELS:
            fail(f"there is no '{name}' here; there are {', '.join(MODELS)}")
    return names


def program():
    """Trireme: the variable TRIREME, else the one that was built here."""
    path = os.environ.get("TRIREME", os.path.join(REPOSITORY, "build", "trireme"))
    if not os.access(path, os.X_OK):
        fail(f"{path} is no program; build it with make, or say where it is: TRIREME=path")
    return os.path.abspath(path)


def cpus_for(text, count):
    """The cpus that --cpus names, or the first ones that this process may use."""
    allowed = sorted(os.sched_getaffinity(0))
    try:
        cpus = [int(word) for word in text.split(",")] if text else allowed[:count]
    except ValueError:
        fail(f"--cpus is '{text}', expected numbers as in 0,1")
    if len(cpus) != count or not set(cpus) <= set(allowed):
        fail(f"{count} cpus are needed, one for each worker; there are {len(cpus)}: {cpus} of {len(allowed)}")
    return cpus


@contextlib.contextmanager
def work_folder():
    """A folder in memory where there is room: what a run writes must not disturb the measurement after it."""
    in_memory = "/dev/shm"
    has_room = os.path.isdir(in_memory) and shutil.disk_usage(in_memory).free > 4 << 30
    folder = tempfile.mkdtemp(prefix="trireme-bench-", dir=in_memory if has_room else None)
    try:
        yield folder
    finally:
        kill_all()
        shutil.rmtree(folder, ignore_errors=True)


def write_npy(path, kind, shape, content):
    header = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content)


def write_data(folder, shape, samples):
    """Random images, as bytes, which is what training holds in memory."""
    draw = random.Random(1)
    os.makedirs(folder)
    for name, count in (("train", samples), ("test", 64)):
        size = count
        for length in shape:
            size *= length
        with_bytes = b"".join(draw.randbytes(min(1 << 20, size - at)) for at in range(0, size, 1 << 20))
        write_npy(os.path.join(folder, f"x_{name}.npy"), "|u1", (count, *shape), with_bytes)
        labels = bytes(draw.randrange(CLASSES) for _ in range(count))
        write_npy(os.path.join(folder, f"y_{name}.npy"), "|u1", (count,), labels)


class Run:
    """`trireme train` with one thread per worker, which starts at once; seconds() waits for its end."""

    def __init__(self, folder, name, model, data, batch, steps, cpus, arguments):
        self.folder = os.path.join(folder, name)
        self.log = open(self.folder + ".log", "w+")
        command = [program(), "train", "--model", model, "--data", data, "--normalize", "scale", "--batch", str(batch),
                   "--steps", str(steps), "--threads", "1", "--optimizer", "sgd:lr=0.01,momentum=0.9", "--schedule",
                   "constant", "--trace", "all", "--run", self.folder, "--json", *arguments]
        self.process = start(command, cpus, stderr=self.log)

    def seconds(self, warm_up, leave_out_last=0):
        """From step to step, on worker 0, without the first and last ones. Removes the run."""
        try:
            out, _ = self.process.communicate(timeout=RUN_SECONDS)
        except subprocess.TimeoutExpired:
            fail(f"{' '.join(self.process.args)} has not ended after {RUN_SECONDS} s", 1)
        if self.process.returncode != 0:
            self.log.seek(0)
            fail(f"{' '.join(self.process.args)} ended with {self.process.returncode}:\n{self.log.read()}", 1)
        self.log.close()
        self.summary = json.loads(out.splitlines()[-1])
        with open(os.path.join(self.folder, "trace.json")) as file:
            events = json.load(file)["traceEvents"]
        worker = next(e["pid"] for e in events if e["name"] == "process_name" and "worker 0" in e["args"]["name"])
        starts = sorted(e["ts"] for e in events if e["pid"] == worker and e["name"] == "step")
        shutil.rmtree(self.folder)
        between = [1e-6 * (end - start) for start, end in zip(starts, starts[1:])]
        return between[warm_up:len(between) - leave_out_last]


def median(values):
    return statistics.median(values)


def mean(values):
    return statistics.fmean(values)
