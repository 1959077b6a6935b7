"""Times PyTorch's DataLoader on a packed dataset, as one side of `trireme bench input`.

Started as `input.py`, it answers one JSON object per line on standard output to one per line on standard input:

    {"do": "open", "file": "cifar10.trireme", "batch": 128, "pad": 4, "flip": true, "mean": [...], "divisor": [...],
     "workers": 2, "mapped": true, "pipeline": "samples", "compiled": false}
                                     seconds from opening the file to the first batch; "mapped": read in place
    {"do": "run", "seconds": 0.5}    samples per second
    {"do": "memory"}                 bytes (Pss) of this process and its workers, minus those before

The images are one tensor of bytes. There are three pipelines, each behind a DataLoader:

    samples   each sample is padded, cropped, mirrored and normalised alone, as transforms of a dataset do
    batches   the same operations on all samples of a batch at once
    copies    all images are padded, and mirrored into a second copy, when the file is opened; a batch is then one
              indexed read and its normalisation

`compiled` runs the work on a batch through torch.compile; a missing feature is answered with {"not_available": ...}.
PyTorch gets its best settings: persistent workers, no garbage collection while timing. The process and each worker
compute with one thread.
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
from process import allocator_name  # noqa: E402


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


def crops(images, which, top, left, height, width):
    """images[which] from the rows and columns top and left on, one copy of what is needed."""
    return images.unfold(2, height, 1).unfold(3, width, 1)[which, :, top, left]


class Batches(torch.utils.data.Dataset):
    """Indexed by a list of samples: their batch. `copies`: see above."""

    def __init__(self, images, targets, pad, flip, mean, divisor, copies, compiled):
        images = torch.from_numpy(images)
        self.samples = len(images)
        self.height, self.width = images.shape[2:]
        self.targets = torch.from_numpy(targets).reshape(len(targets)).long()
        self.pad, self.flip, self.copies = pad, flip, copies
        self.mean = torch.tensor(mean).reshape(1, -1, 1, 1)
        self.factor = 1 / torch.tensor(divisor).reshape(1, -1, 1, 1)
        if copies:
            images = torch.nn.functional.pad(images, (pad,) * 4)
            images = torch.cat([images, images.flip(3)]) if flip else images
        self.images = images
        self.make = self.from_copies if copies else self.from_images
        if compiled:
            self.make = torch.compile(self.make)

    def __len__(self):
        return self.samples

    def from_copies(self, chosen, top, left, mirrored):
        which = chosen + self.samples * mirrored if self.flip else chosen
        return (crops(self.images, which, top, left, self.height, self.width) - self.mean).mul_(self.factor)

    def from_images(self, chosen, top, left, mirrored):
        images = self.images[chosen]
        if self.pad > 0:
            padded = torch.nn.functional.pad(images, (self.pad,) * 4)
            images = crops(padded, torch.arange(len(chosen)), top, left, self.height, self.width)
        if self.flip:
            images = torch.where(mirrored.reshape(-1, 1, 1, 1), images.flip(3), images)
        return (images - self.mean).mul_(self.factor)

    def __getitem__(self, indices):
        chosen, count = torch.tensor(indices), (len(indices),)
        top, left = torch.randint(2 * self.pad + 1, count), torch.randint(2 * self.pad + 1, count)
        return self.make(chosen, top, left, torch.rand(count) < 0.5), self.targets[chosen]


class Reader:
    def __init__(self, file, batch, pad, flip, mean, divisor, workers, mapped, pipeline="samples", compiled=False):
        gc.collect()
        self.before = pss_bytes(os.getpid())
        self.batch = batch
        start = time.perf_counter()
        arrays = read_packed(file, mapped)
        more = {"num_workers": workers, "persistent_workers": workers > 0}
        if pipeline == "samples":
            self.loader = torch.utils.data.DataLoader(Images(*arrays, pad, flip, mean, divisor), batch_size=batch,
                                                      shuffle=True, drop_last=True, **more)
        else:
            batches = Batches(*arrays, pad, flip, mean, divisor, pipeline == "copies", compiled)
            order = torch.utils.data.BatchSampler(torch.utils.data.RandomSampler(batches), batch, drop_last=True)
            self.loader = torch.utils.data.DataLoader(batches, batch_size=None, sampler=order, **more)
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
        torch.set_num_threads(1)

    def open(self, request):
        if request.get("compiled") and not hasattr(torch, "compile"):
            return {"not_available": f"PyTorch {torch.__version__} has no torch.compile"}
        try:
            self.reader = Reader(**request)
            if request.get("compiled"):
                self.reader.run(0.5)
        except Exception as error:  # noqa: BLE001: a compiler that is missing, ...
            if not request.get("compiled"):
                raise
            return {"not_available": f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"}
        return {"first_batch": self.reader.first_batch, "torch": torch.__version__, "allocator": allocator_name()}

    def __call__(self, what, request):
        if what == "open":
            return self.open(request)
        if what == "run":
            return self.reader.run(request["seconds"])
        if what == "memory":
            return self.reader.memory()
        return None


if __name__ == "__main__":
    answering.serve(Answers())
