"""One rank of PyTorch's gloo group, as one side of `trireme bench collective`.

Started as `collective.py`, it answers one JSON object per line on standard output to one per line on standard input:

    {"do": "join", "port": 29500, "rank": 0, "world": 2}
    {"do": "run", "bytes": 4096, "count": 10}    seconds, and processor seconds, per all-reduce
"""

import datetime
import os
import sys
import time

import torch
import torch.distributed

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))

import answering  # noqa: E402


def join(port, rank, world, **_):
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world,
                                         timeout=datetime.timedelta(seconds=60))
    return {"torch": torch.__version__}


def run(bytes, count, **_):
    data = torch.zeros(bytes // 4)
    torch.distributed.all_reduce(data)
    torch.distributed.barrier()
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(count):
        torch.distributed.all_reduce(data)
    return {"seconds": (time.perf_counter() - start) / count, "cpu_seconds": (time.process_time() - cpu) / count}


def answer(what, request):
    commands = {"join": join, "run": run}
    return commands[what](**request) if what in commands else None


if __name__ == "__main__":
    answering.serve(answer)
