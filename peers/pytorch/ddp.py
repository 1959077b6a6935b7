"""One rank of PyTorch's DistributedDataParallel over gloo, or PyTorch alone, as one side of `trireme bench train`.

Started as `ddp.py THREADS`, it answers one JSON object per line on standard output to one per line on standard input,
and sleeps in between. All ranks must get the same request at the same time:

    {"do": "join", "file": "/tmp/meeting", "rank": 0, "world": 2, "cpus": [0]}  "cpus" only to pin this rank to them
    {"do": "prepare", "model": "lenet5", "batch": 42, "layout": "nchw", "samples": 840,
     "in_place": false, "compiled": false, "dtype": "float32"}    "batch" of this rank; the last three as in step.py
    {"do": "tune"}                           keeps the fastest of PyTorch's implementations of SGD
    {"do": "run", "warm_up": 5, "steps": 20}  seconds from step to step: "median", and all of them; "phases":
                                              load, forward, backward, network and update of the median step; network
                                              is the time that DDP adds to backward, which also runs without DDP

PyTorch gets its best settings, and missing features are answered, as in step.py. The gradients are views of DDP's
buckets (gradient_as_bucket_view), and running statistics are not broadcast before each step (broadcast_buffers).
"samples" is the number of samples, as bytes in memory, from which batches are drawn, converted and scaled, all samples
of a batch at once, without a DataLoader's work for each sample.
"""

import contextlib
import datetime
import gc
import os
import time

import step  # first: it sets the number of threads of the libraries that torch loads

import torch
import torch.distributed
from torch.nn.parallel import DistributedDataParallel

import answering
import networks

GROUP_SECONDS = 300  # ranks do not finish compiling at the same moment
ALONE_STEPS = 5  # without DDP, at most


class Replica(step.Step):
    def __init__(self, model, batch, layout, world, samples, **more):
        _, inputs, classes = networks.MODELS[networks.split(model)[0]]
        super().__init__(model, inputs, classes, batch, layout, **more)
        self.bytes = [torch.randint(256, (samples, *shape), dtype=torch.uint8) for shape in inputs]
        self.labels = torch.randint(classes, (samples,))
        self.formats = [torch.channels_last if layout == "channels_last" and x.dim() == 4 else torch.contiguous_format
                        for x in self.bytes]
        self.order, self.taken = torch.randperm(samples), 0
        self.alone = contextlib.nullcontext
        if world > 1:
            self.net = DistributedDataParallel(self.net, gradient_as_bucket_view=True, broadcast_buffers=False)
            self.alone = self.net.no_sync
        self.choose(next(self.working_optimizers()))

    def start(self):
        with self.alone():  # no rank waits for another one that still compiles
            super().start()
        self.gradients()
        self.forget_gradients()

    def load(self):
        count = len(self.target)
        if self.taken + count > len(self.order):
            self.order, self.taken = torch.randperm(len(self.order)), 0
        chosen = self.order[self.taken:self.taken + count]
        self.taken += count
        self.inputs = [x[chosen].to(self.kind, memory_format=form).mul_(1 / 255)
                       for x, form in zip(self.bytes, self.formats)]
        self.target = self.labels[chosen]

    def one(self):
        """Seconds of load, forward, backward and update."""
        start = time.perf_counter()
        self.load()
        return (time.perf_counter() - start, *super().one())

    def run(self, warm_up, steps):
        gc.collect()
        gc.disable()
        for _ in range(warm_up):
            self.one()
        moments, phases = [time.perf_counter()], []
        for _ in range(steps):
            phases.append(self.one())
            moments.append(time.perf_counter())
        with self.alone():
            backward_alone = sorted(self.one()[2] for _ in range(min(steps, ALONE_STEPS)))
        gc.enable()
        seconds = [end - start for start, end in zip(moments, moments[1:])]
        median = sorted(range(steps), key=seconds.__getitem__)[(steps - 1) // 2]
        load, forward, backward, update = phases[median]
        own = min(backward, backward_alone[(len(backward_alone) - 1) // 2]) if torch.distributed.is_initialized() \
            else backward
        return {"median": seconds[median], "seconds": seconds,
                "phases": {"load": load, "forward": forward, "backward": own, "network": backward - own,
                           "update": update}}


class Answers:
    def __init__(self):
        self.replica, self.world = None, 1
        torch.set_num_threads(int(step.THREADS))
        torch.set_flush_denormal(True)

    def join(self, file, rank, world, cpus=()):
        if cpus:
            os.sched_setaffinity(0, cpus)
        self.world = world
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        if world > 1:
            torch.distributed.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=world,
                                                 timeout=datetime.timedelta(seconds=GROUP_SECONDS))
        return step.about()

    def prepare(self, **request):
        self.replica = None  # its memory first
        self.replica, why_not = step.prepared(Replica, {"world": self.world, **request})
        if why_not:
            return {"not_available": why_not}
        return {"parameters": sum(p.numel() for p in self.replica.net.parameters())}

    def __call__(self, what, request):
        if what in ("join", "prepare"):
            return getattr(self, what)(**request)
        if what in ("tune", "run"):
            return getattr(self.replica, what)(**request)
        return None


if __name__ == "__main__":
    answering.serve(Answers())
