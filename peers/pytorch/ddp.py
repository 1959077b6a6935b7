"""One rank of PyTorch's DistributedDataParallel over gloo, with one thread, as one side of bench/ddp.py.

Started as `ddp.py 1`, it answers one JSON object per line on standard output to one per line on standard input, and
sleeps in between. All ranks must be asked the same at the same time:

    {"do": "join", "file": "/tmp/meeting", "rank": 0, "world": 2, "cpu": 0}     "cpu" only to pin this rank to it
    {"do": "prepare", "model": "lenet5", "batch": 42, "layout": "nchw"}         "batch" of this rank
    {"do": "tune"}                           keeps the fastest of PyTorch's implementations of SGD
    {"do": "run", "warm_up": 5, "steps": 20}  seconds from step to step, the one in the middle and all of them

What helps PyTorch is done, as in step.py. The gradients lie in DDP's buckets (gradient_as_bucket_view), and running
statistics are not sent round before each step (broadcast_buffers). Batches lie in memory as they are used: floats, in
the right layout, nothing to copy.
"""

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

BATCHES = 8  # so that no batch is found in a cache
JOIN_SECONDS = 60


class Replica(step.Step):
    def __init__(self, model, batch, layout):
        _, inputs, classes = networks.MODELS[model]
        super().__init__(model, inputs, classes, batch, layout)
        shift = [torch.rand(1).item() for _ in range(BATCHES)]
        self.batches = [([x + s for x in self.inputs], torch.randint(classes, (batch,))) for s in shift]
        self.taken = 0
        self.net = DistributedDataParallel(self.net, gradient_as_bucket_view=True, broadcast_buffers=False)
        self.choose(next(self.working_optimizers()))

    def gradients(self):
        self.inputs, self.target = self.batches[self.taken % BATCHES]
        self.taken += 1
        return super().gradients()

    def run(self, warm_up, steps):
        gc.collect()
        gc.disable()
        for _ in range(warm_up):
            self.one()
        moments = [time.perf_counter()]
        for _ in range(steps):
            self.one()
            moments.append(time.perf_counter())
        gc.enable()
        seconds = [end - start for start, end in zip(moments, moments[1:])]
        return {"median": sorted(seconds)[(steps - 1) // 2], "seconds": seconds}


class Answers:
    def __init__(self):
        self.replica = None
        torch.set_num_threads(1)
        torch.set_flush_denormal(True)

    def join(self, file, rank, world, cpu=None):
        if cpu is not None:
            os.sched_setaffinity(0, {cpu})
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        torch.distributed.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=world,
                                             timeout=datetime.timedelta(seconds=JOIN_SECONDS))
        return {"torch": torch.__version__, "blas": step.blas_name(), "threads": torch.get_num_threads()}

    def prepare(self, **request):
        self.replica = None  # its memory first
        self.replica = Replica(**request)
        return {"parameters": sum(p.numel() for p in self.replica.net.parameters())}

    def __call__(self, what, request):
        if what in ("join", "prepare"):
            return getattr(self, what)(**request)
        if what in ("tune", "run"):
            return getattr(self.replica, what)(**request)
        return None


if __name__ == "__main__":
    answering.serve(Answers())
