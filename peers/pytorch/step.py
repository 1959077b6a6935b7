"""Times the training step of a network of the zoo in PyTorch, as one side of `trireme bench step`.

Started as `step.py THREADS [pin]`, it answers one JSON object per line on standard output to one per line on standard
input, and sleeps in between:

    {"do": "prepare", "model": "lenet5", "inputs": [[3, 32, 32]], "classes": 10, "batch": 42, "layout": "nchw",
     "in_place": false, "compiled": false, "dtype": "float32"}    the last three are optional; "network": a description
                                    (described.py) instead of a model of networks.py
    {"do": "run", "steps": 10}      seconds of the median step: forward, backward, update, total
    {"do": "memory"}                bytes: the largest resident size since prepare, minus that before the network
    {"do": "tune"}                  keeps the fastest of PyTorch's implementations of SGD

`dtype` is float32, bf16-autocast (float32 weights, operations cast where torch.autocast does so) or bf16 (weights,
activations and updates). `compiled` runs forward, loss and backward through torch.compile; compilation is a part of
prepare. A way that is missing in this PyTorch or on this machine is answered with {"not_available": "reason"}.

PyTorch gets its best settings: gradients are dropped instead of zeroed, fused or foreach SGD where available, denormals
flushed, no garbage collection while timing. The caller tries layouts, types, allocators (LD_PRELOAD) and so on. Works
with PyTorch 1.13 and 2.x.
"""

import contextlib
import gc
import os
import sys
import time

THREADS = sys.argv[1] if len(sys.argv) > 1 else "1"
for library in ("OMP", "MKL", "OPENBLAS", "BLIS"):
    os.environ[library + "_NUM_THREADS"] = THREADS  # read when the library is loaded
if "pin" in sys.argv[2:]:
    os.environ["OMP_PROC_BIND"] = "close"
    os.environ["OMP_PLACES"] = "threads"

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))

import torch  # noqa: E402

import answering  # noqa: E402
import described  # noqa: E402
import networks  # noqa: E402
from process import allocator_name, status_bytes  # noqa: E402

LEARNING_RATE, MOMENTUM = 0.01, 0.9


def blas_name():
    """Which library multiplies matrices: Debian's PyTorch takes whichever libblas.so.3 is installed."""
    if torch.backends.mkl.is_available():
        return "mkl"
    torch.mm(torch.ones(2, 2), torch.ones(2, 2))
    with open("/proc/self/maps") as maps:
        loaded = maps.read()
    for name in ("openblas", "mkl", "blis", "atlas"):
        if name in loaded:
            return name
    return "reference" if "libblas.so" in loaded else "own"


def about():
    return {"torch": torch.__version__, "blas": blas_name(), "allocator": allocator_name(),
            "threads": torch.get_num_threads()}


def reset_peak():
    try:
        with open("/proc/self/clear_refs", "w") as clear:
            clear.write("5")
    except OSError:
        pass  # the peak so far then counts as well; it lies little above what is resident now


def sgd_candidates(parameters):
    """(name, maker) of every SGD this PyTorch has, most promising first."""
    for name, more in (("fused", {"fused": True}), ("foreach", {"foreach": True}), ("plain", {})):
        yield name, lambda more=more: torch.optim.SGD(parameters, lr=LEARNING_RATE, momentum=MOMENTUM, **more)


class Step:
    def __init__(self, model, inputs, classes, batch, layout, in_place=False, compiled=False, dtype="float32",
                 network=None):
        gc.collect()
        reset_peak()
        self.before = status_bytes("VmRSS")
        torch.manual_seed(1)
        networks.use_in_place(in_place)
        self.net = described.Network(network) if network else networks.build(model, inputs, classes)
        self.net.train()
        self.kind = torch.bfloat16 if dtype == "bf16" else torch.float32
        self.net = self.net.to(self.kind)
        self.inputs = [(torch.rand(batch, *shape) - 0.5).to(self.kind) for shape in inputs]
        self.target = torch.randint(classes, (batch,))
        if layout == "channels_last":
            self.net = self.net.to(memory_format=torch.channels_last)
            self.inputs = [x.to(memory_format=torch.channels_last) if x.dim() == 4 else x for x in self.inputs]
        self.has_penalty = hasattr(self.net, "l2") or bool(getattr(self.net, "penalties", None))
        self.cross_entropy = torch.nn.CrossEntropyLoss()
        self.casting = (lambda: torch.autocast("cpu", torch.bfloat16)) if dtype == "bf16-autocast" \
            else contextlib.nullcontext
        self.compiled = compiled
        self.choose(next(self.working_optimizers()))

    def loss(self, inputs, target):
        loss = self.cross_entropy(self.net(*inputs).float(), target)
        return loss + networks.penalty(self.net) if self.has_penalty else loss

    def start(self):
        """Compiles, where asked for, and makes the first step, so that a way that does not work fails here."""
        if self.compiled:
            self.loss = torch.compile(self.loss)
        for _ in range(2 if self.compiled else 1):
            self.gradients()
            self.forget_gradients()
        self.gradients()
        self.update()
        self.forget_gradients()

    def choose(self, named):
        self.optimizer_name, self.optimizer = named

    def working_optimizers(self):
        parameters = list(self.net.parameters())
        for name, make in sgd_candidates(parameters):
            try:
                yield name, make()
            except (TypeError, RuntimeError):
                continue  # this version does not have it

    def gradients(self):
        """Seconds of forward and backward."""
        start = time.perf_counter()
        with self.casting():
            loss = self.loss(self.inputs, self.target)
        middle = time.perf_counter()
        loss.backward()
        return middle - start, time.perf_counter() - middle

    def update(self):
        """Seconds of the update."""
        start = time.perf_counter()
        self.optimizer.step()
        return time.perf_counter() - start

    def forget_gradients(self):
        self.optimizer.zero_grad(set_to_none=True)

    def one(self):
        """Seconds of forward, backward and update."""
        forward, backward = self.gradients()
        update = self.update()
        start = time.perf_counter()
        self.forget_gradients()
        return forward, backward, update + time.perf_counter() - start

    def run(self, steps):
        gc.collect()
        gc.disable()
        times = sorted((self.one() for _ in range(steps)), key=sum)
        gc.enable()
        forward, backward, update = times[(steps - 1) // 2]
        return {"forward": forward, "backward": backward, "update": update, "total": forward + backward + update}

    def memory(self):
        return {"bytes": max(0, status_bytes("VmHWM") - self.before)}

    def tune(self):
        """Takes the fastest optimizer; all update with the gradients of one step."""
        best = None
        self.gradients()
        for named in list(self.working_optimizers()):
            self.choose(named)
            try:
                self.update()
                seconds = min(self.update() for _ in range(5))
            except (RuntimeError, ValueError):
                continue
            if best is None or seconds < best[0]:
                best = (seconds, named)
        self.choose(best[1])
        self.forget_gradients()
        return {"optimizer": self.optimizer_name}


def prepared(make, request):
    """make(**request), started; or why this way cannot be had."""
    is_plain = not (request.get("in_place") or request.get("compiled") or request.get("dtype", "float32") != "float32")
    if request.get("compiled") and not hasattr(torch, "compile"):
        return None, f"PyTorch {torch.__version__} has no torch.compile"
    try:
        step = make(**request)
        step.start()
        return step, ""
    except Exception as error:  # noqa: BLE001: a compiler that is missing, an operation without bf16, ...
        if is_plain:
            raise
        return None, f"{type(error).__name__}: {first_line(error)}"


def first_line(error):
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")


class Answers:
    def __init__(self):
        self.step = None
        torch.set_num_threads(int(THREADS))
        torch.set_flush_denormal(True)

    def prepare(self, request):
        self.step, why_not = prepared(Step, request)
        if why_not:
            return {"not_available": why_not}
        return {**about(), "parameters": sum(p.numel() for p in self.step.net.parameters())}

    def __call__(self, what, request):
        if what == "prepare":
            return self.prepare(request)
        if what == "run":
            return self.step.run(request["steps"])
        if what == "memory":
            return self.step.memory()
        if what == "tune":
            return self.step.tune()
        return None


if __name__ == "__main__":
    answering.serve(Answers())
