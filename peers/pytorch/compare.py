"""PyTorch's side of `trireme compare`: the same network from the same weights, fed with the same batches.

The requests and answers are described in peers/README.md.
"""

import sys

THREADS = sys.argv[1] if len(sys.argv) > 1 else "1"
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1

import step  # noqa: E402: it sets the number of threads of the libraries that torch loads

import torch  # noqa: E402
from torch import nn  # noqa: E402

import answering  # noqa: E402
import comparing  # noqa: E402
import described  # noqa: E402
import networks  # noqa: E402
import perturb  # noqa: E402
import schedules  # noqa: E402
import tensors  # noqa: E402


class Mask(nn.Module):
    """In place of a dropout: what falls is decided elsewhere."""

    def __init__(self):
        super().__init__()
        self.mask = None  # of the samples at hand

    def forward(self, x):
        return x * self.mask if self.training else x


class OarNorm(nn.Module):
    """In place of a batch norm: keeps the statistics of each oar until the step ends."""

    def __init__(self, norm):
        super().__init__()
        self.eps, self.momentum = norm.eps, norm.momentum
        self.weight, self.bias = norm.weight, norm.bias
        self.register_buffer("running_mean", norm.running_mean)
        self.register_buffer("running_var", norm.running_var)
        self.seen = []  # samples, mean, variance

    def forward(self, x):
        if not self.training:
            return nn.functional.batch_norm(x, self.running_mean, self.running_var, self.weight, self.bias, False, 0,
                                            self.eps)
        mean, var = torch.zeros_like(self.running_mean), torch.zeros_like(self.running_var)
        # With momentum 1 it leaves the statistics of this oar there.
        y = nn.functional.batch_norm(x, mean, var, self.weight, self.bias, True, 1.0, self.eps)
        self.seen.append((x.shape[0], mean, var))
        return y

    def move(self):
        samples = sum(count for count, _, _ in self.seen)
        for running, which in ((self.running_mean, 1), (self.running_var, 2)):
            combined = sum(one[0] * one[which].double() for one in self.seen) / samples
            running += self.momentum * (combined.float() - running)
        self.seen = []


LAYERS = (nn.Conv1d, nn.Conv2d, nn.Linear, OarNorm)


def replace(net):
    """Masks and norms of our own, under the same names."""
    masks, norms = {}, []
    for name, module in list(net.named_modules()):
        parent = net.get_submodule(name.rpartition(".")[0])
        if isinstance(module, nn.Dropout):
            masks[name] = Mask()
            setattr(parent, name.rpartition(".")[2], masks[name])
        elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            norms.append(OarNorm(module))
            setattr(parent, name.rpartition(".")[2], norms[-1])
    return masks, norms


def make_optimizer(parameters, text):
    """Of Trireme's "rule:option=value,..." with all options, as `trireme list optimizers` prints them."""
    rule, _, rest = text.partition(":")
    given = {}
    for option in rest.split(","):
        name, _, value = option.partition("=")
        given[name.replace("-", "_")] = value == "yes" if value in ("yes", "no") else float(value)
    decoupled = given.pop("decoupled")
    if decoupled and given["weight_decay"] == 0:
        decoupled = False
    if decoupled and rule != "adam":
        raise answering.Refused(f"PyTorch has no {rule} with decoupled decay")
    if rule == "adam":
        given["betas"] = (given.pop("beta1"), given.pop("beta2"))
    makers = {"sgd": torch.optim.SGD, "adagrad": torch.optim.Adagrad, "adadelta": torch.optim.Adadelta,
              "adam": torch.optim.AdamW if decoupled else torch.optim.Adam}
    return makers[rule](parameters, **given)


# Trireme's names of the optimizers' state, and PyTorch's.
SLOTS = {"sgd": {"momentum": "momentum_buffer"}, "adagrad": {"square_sum": "sum"},
         "adadelta": {"square_avg": "square_avg", "delta_avg": "acc_delta"},
         "adam": {"mean": "exp_avg", "square_avg": "exp_avg_sq"}}


def slots_of(text):
    rule, _, rest = text.partition(":")
    return {} if rule == "sgd" and "momentum=0" in rest.split(",") else SLOTS[rule]


def numpy_of(found):
    return {name: tensor.detach().numpy() for name, tensor in found.items()}


def read(path):
    return {name: torch.from_numpy(values) for name, values in tensors.read(path).items()}


class Comparison:
    def __init__(self, model, inputs, classes, weights, optimizer, results, network=None):
        self.net = described.Network(network) if network else networks.build(model, inputs, classes)
        self.dropouts = {name: module.p for name, module in self.net.named_modules() if isinstance(module, nn.Dropout)}
        self.masks, self.norms = replace(self.net)
        self.load(read(weights))
        self.optimizer, self.slots = make_optimizer(list(self.net.parameters()), optimizer), slots_of(optimizer)
        tensors.write(results, numpy_of({**{name: tensor for name, tensor, _ in self.parameters()}, **self.state()}))

    def about(self):
        return {"dropouts": self.dropouts}

    def parameters(self):
        return list(networks.parameters_and_statistics(self.net))

    def trained(self):
        return [(name, tensor) for name, tensor, trained in self.parameters() if trained]

    def state(self):
        """Of the optimizer, which keeps nothing before its first step; that is as good as zero."""
        return {f"slot.{slot}.{name}": self.optimizer.state[tensor].get(own, torch.zeros_like(tensor))
                for slot, own in self.slots.items() for name, tensor in self.trained()}

    def state_and_weights(self):
        return {**self.state(), **{"weight." + name: tensor for name, tensor, _ in self.parameters()}}

    def load(self, given):
        own = {name: tensor for name, tensor, _ in self.parameters()}
        for name in own.keys() | given.keys():
            if name not in own or name not in given:
                raise ValueError(f"{name} is only in {'the file' if name in given else 'the network'}")
            if own[name].shape != given[name].shape:
                raise ValueError(f"{name} is {list(own[name].shape)} in the network and {list(given[name].shape)} in "
                                 "the file")
        with torch.no_grad():
            for name, tensor in own.items():
                tensor.copy_(given[name])

    def snapshot(self):
        """Parameters, statistics and the optimizer's state; restore() brings them back."""
        copy = lambda value: value.detach().clone() if torch.is_tensor(value) else value  # noqa: E731
        return ([(tensor, copy(tensor)) for _, tensor, _ in self.parameters()],
                {tensor: {key: copy(value) for key, value in state.items()}
                 for tensor, state in self.optimizer.state.items()})

    def restore(self, snapshot):
        tensors_before, state_before = snapshot
        with torch.no_grad():
            for tensor, before in tensors_before:
                tensor.copy_(before)
        self.optimizer.state.clear()
        for tensor, state in state_before.items():
            self.optimizer.state[tensor] = {key: value.clone() if torch.is_tensor(value) else value
                                            for key, value in state.items()}

    def one_oar(self, batch, begin, end, samples):
        inputs = [batch[f"input.{i}"][begin:end] for i in range(sum(name.startswith("input.") for name in batch))]
        for name, module in self.masks.items():
            module.mask = batch["mask." + name][begin:end]
        output = self.net(*inputs)
        loss = nn.functional.cross_entropy(output, batch["target"][begin:end].reshape(-1).long(), reduction="sum")
        (loss / samples).backward()
        return loss.item()

    def move(self, lr):
        """Adds the penalty's gradient and updates the weights; returns the penalty."""
        penalty = networks.penalty(self.net)
        if torch.is_tensor(penalty):
            penalty.backward()
            penalty = penalty.item()
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.step()
        return penalty

    def train(self, batch, oars, lr):
        """One step; its loss, penalty and gradients."""
        samples = len(batch["target"])
        self.net.train()
        self.optimizer.zero_grad(set_to_none=False)
        loss = sum(self.one_oar(batch, begin, end, samples) for begin, end in oars if begin < end)
        gradients = {"gradient." + name: tensor.grad.clone() for name, tensor in self.trained()}
        penalty = self.move(lr)
        for norm in self.norms:
            norm.move()
        return {"loss": loss / samples, "penalty": penalty}, gradients

    def output(self, batch):
        self.net.eval()
        with torch.no_grad():
            return self.net(*[batch[f"input.{i}"] for i in range(sum(name.startswith("input.") for name in batch))])

    def step(self, batch, oars, lr, results, perturbed=()):
        batch = read(batch)
        before, answers = self.snapshot() if perturbed else None, []
        for number, path in enumerate(perturbed):
            with perturb.perturbed(self.net, opens=number % 2 == 0):
                answer, found = self.train(batch, oars, lr)
            answers.append(answer)
            tensors.write(path, numpy_of({**found, **self.state_and_weights(), "output": self.output(batch)}))
            self.restore(before)
        answer, found = self.train(batch, oars, lr)
        if results:
            found = numpy_of({**found, **self.state_and_weights(), "output": self.output(batch)})
            tensors.write(results, found)
            answer["digests"] = tensors.digests(found)
        return {**answer, "perturbed": answers}

    def update(self, gradients, lr, max_norm, results):
        self.optimizer.zero_grad(set_to_none=False)
        given = read(gradients)
        with torch.no_grad():
            for name, tensor in self.trained():
                if tensor.grad is None:
                    tensor.grad = torch.zeros_like(tensor)
                tensor.grad.copy_(given["gradient." + name])
        if max_norm:
            nn.utils.clip_grad_norm_(list(self.net.parameters()), max_norm)
        penalty = self.move(lr)
        tensors.write(results, numpy_of(self.state_and_weights()))
        return {"penalty": penalty}

    def learning_rates(self, schedule, lr, steps, steps_per_epoch):
        return {"rates": schedules.learning_rates(schedule, lr, steps, steps_per_epoch)}

    def normalize(self, given, results):
        given, found = read(given), {}
        for name in [name for name in given if name.startswith("input.")]:
            x, number = given[name], name.removeprefix("input.")
            channels = (1, -1) + (1,) * (x.dim() - 2)
            found[name] = (x - given["mean." + number].view(channels)) / given["divisor." + number].view(channels)
        tensors.write(results, numpy_of(found))
        return {}

    def layers(self, batch, oar, results):
        batch = read(batch)
        self.net.train()
        self.optimizer.zero_grad(set_to_none=False)
        found, hooks = {}, []
        for name, module in self.net.named_modules():
            if isinstance(module, LAYERS):
                hooks.append(module.register_forward_hook(self.see_forward(found, name)))
                hooks.append(module.register_full_backward_hook(self.see_backward(found, name)))
        loss = self.one_oar(batch, *oar, oar[1] - oar[0])
        for hook in hooks:
            hook.remove()
        for norm in self.norms:
            norm.seen = []
        for name, module in self.net.named_modules():
            if isinstance(module, LAYERS):
                for parameter, value in module.named_parameters():
                    found[f"{name}.diff.{parameter}"] = value.grad.clone()
        tensors.write(results, numpy_of(found))
        return {"loss": loss}

    def probe(self, inputs, results):
        self.net.train()
        found = {}
        with torch.no_grad():
            for name, values in read(inputs).items():
                layer = self.net.get_submodule(name.removesuffix(".input"))
                found[name.removesuffix("input") + "output"] = layer(values)
        for norm in self.norms:
            norm.seen = []
        tensors.write(results, numpy_of(found))
        return {}

    @staticmethod
    def see_forward(found, name):
        def see(_, inputs, output):
            found[name + ".input"], found[name + ".output"] = inputs[0].detach().clone(), output.detach().clone()
        return see

    @staticmethod
    def see_backward(found, name):
        def see(_, diff_inputs, diff_outputs):
            found[name + ".diff_output"] = diff_outputs[0].clone()
            if diff_inputs[0] is not None:
                found[name + ".diff_input"] = diff_inputs[0].clone()
        return see

    def evaluate(self, batch, results):
        tensors.write(results, numpy_of({"output": self.output(read(batch))}))
        return {}


def main():
    torch.manual_seed(SEED)
    torch.set_num_threads(int(THREADS))
    answering.serve(comparing.Answers(Comparison, {"version": torch.__version__, "blas": step.blas_name()}))


if __name__ == "__main__":
    main()
