"""Times PyTorch's DataLoader on a packed dataset, as one side of `trireme bench input`.

Started as `input.py`, it answers one JSON object per line on standard output to one per line on standard input:

    {"do": "open", "file": "cifar10.trireme", "batch": 128, "pad": 4, "flip": true, "mean": [...], "divisor": [...],
     "workers": 2, "mapped": true}   seconds from opening the file to the first batch; "mapped": read where it lies
    {"do": "run", "seconds": 0.5}    samples per second
    {"do": "memory"}                 bytes (Pss) of this process and its workers, less what the process had before

The images are one tensor of bytes; each sample is padded, cropped, mirrored and normalised by tensor operations, as
transforms of a dataset do it. What helps PyTorch is done: persistent workers, no garbage collection while timing.
"""

import gc
import json
import os
import random
import sys
import time

import numpy
import torch

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))

import answering  # noqa: E402


def pss_bytes(pid):
    try:
        with open(f"/proc/{pid}/smaps_rollup") as rollup:
            return sum(1024 * int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
    except OSError:
        return 0


def process_tree():
    pids = [os.getpid()]
    for pid in pids:
        try:
            with open(f"/proc/{pid}/task/{pid}/children") as children:
                pids.extend(int(child) for child in children.read().split())
        except OSError:
            pass
    return pids


def read_packed(path, mapped):
    """The training set's first input and its targets: arrays over the file, or in memory."""
    with open(path, "rb") as file:
        front = file.read(24)
        header = json.loads(file.read(int.from_bytes(front[8:16], "little")))
    split = header["splits"]["train"]
    arrays = []
    for column in (split["inputs"][0], split["target"]):
        kind = numpy.uint8 if column["type"] == "u8" else numpy.float32
        shape = (split["samples"], *column["shape"])
        if mapped:
            # Copy-on-write, or PyTorch warns that it cannot promise not to write.
            arrays.append(numpy.memmap(path, kind, "c", column["offset"], shape))
        else:
            arrays.append(numpy.fromfile(path, kind, int(numpy.prod(shape)), offset=column["offset"]).reshape(shape))
    return arrays


class Images(torch.utils.data.Dataset):
    def __init__(self, images, targets, pad, flip, mean, divisor):
        self.images = torch.from_numpy(images)
        self.targets = torch.from_numpy(targets).reshape(len(targets)).long()
        self.pad, self.flip = pad, flip
        self.mean = torch.tensor(mean).reshape(-1, 1, 1)
        self.divisor = torch.tensor(divisor).reshape(-1, 1, 1)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        if self.pad > 0:
            height, width = image.shape[1:]
            top, left = random.randint(0, 2 * self.pad), random.randint(0, 2 * self.pad)
            image = torch.nn.functional.pad(image, (self.pad,) * 4)[:, top:top + height, left:left + width]
        if self.flip and random.random() < 0.5:
            image = image.flip(2)
        return image.float().sub_(self.mean).div_(self.divisor), self.targets[index]


class Reader:
    def __init__(self, file, batch, pad, flip, mean, divisor, workers, mapped):
        gc.collect()
        self.before = pss_bytes(os.getpid())
        self.batch = batch
        start = time.perf_counter()
        images = Images(*read_packed(file, mapped), pad, flip, mean, divisor)
        self.loader = torch.utils.data.DataLoader(images, batch_size=batch, shuffle=True, num_workers=workers,
                                                  persistent_workers=workers > 0, drop_last=True)
        self.batches = iter(self.loader)
        next(self.batches)
        self.first_batch = time.perf_counter() - start

    def next(self):
        try:
            return next(self.batches)
        except StopIteration:
            self.batches = iter(self.loader)
            return next(self.batches)

    def run(self, seconds):
        gc.collect()
        gc.disable()
        self.next()
        start = time.perf_counter()
        batches = 0
        while time.perf_counter() - start < seconds:
            self.next()
            batches += 1
        rate = batches * self.batch / (time.perf_counter() - start)
        gc.enable()
        return {"samples_per_second": rate}

    def memory(self):
        return {"bytes": max(0, sum(pss_bytes(pid) for pid in process_tree()) - self.before)}


class Answers:
    def __init__(self):
        self.reader = None

    def __call__(self, what, request):
        if what == "open":
            self.reader = Reader(**request)
            return {"first_batch": self.reader.first_batch, "torch": torch.__version__}
        if what == "run":
            return self.reader.run(request["seconds"])
        if what == "memory":
            return self.reader.memory()
        return None


if __name__ == "__main__":
    answering.serve(Answers())
