"""A PyTorch module from Trireme's description of a network (network.json, docs/network_files.md), with the same names.

    net = described.Network(json.load(open("network.json")))
    logits = net(images)                      # networks with several inputs take as many tensors
"""

import torch
from torch import nn

from networks import add, relu, tanh


def sizes(value, dimensions):
    return tuple(value) if isinstance(value, list) else (value,) * dimensions


class Pool(nn.Module):
    def __init__(self, kind, dimensions, options):
        super().__init__()
        self.is_max, self.dimensions = kind == "max_pool", dimensions
        self.is_global = options["kernel"] == "all"
        if not self.is_global:
            self.kernel = sizes(options["kernel"], dimensions)
            self.stride = sizes(options.get("stride", list(self.kernel)), dimensions)
            self.padding = sizes(options.get("padding", 0), dimensions)
        self.counts_padding, self.has_relu = options.get("count_padding", True), options.get("relu", False)

    def forward(self, x):
        axes = tuple(range(2, x.dim()))
        if self.is_global:
            y = x.amax(axes, keepdim=True) if self.is_max else x.mean(axes, keepdim=True)
        elif self.is_max:
            pool = nn.functional.max_pool1d if self.dimensions == 1 else nn.functional.max_pool2d
            y = pool(x, self.kernel, self.stride, self.padding)
        else:
            pool = nn.functional.avg_pool1d if self.dimensions == 1 else nn.functional.avg_pool2d
            y = pool(x, self.kernel, self.stride, self.padding, count_include_pad=self.counts_padding)
        return relu(y) if self.has_relu else y


class AdaptivePool(nn.Module):
    def __init__(self, dimensions, options):
        super().__init__()
        self.output, self.dimensions = sizes(options["output"], dimensions), dimensions

    def forward(self, x):
        pool = nn.functional.adaptive_avg_pool1d if self.dimensions == 1 else nn.functional.adaptive_avg_pool2d
        return pool(x, self.output)


def layer_of(op, options, shape):
    """The module of a node whose first input has this shape (without the samples); None for ops without one."""
    dimensions = len(shape) - 1
    if op == "conv":
        make = nn.Conv1d if dimensions == 1 else nn.Conv2d
        return make(shape[0], options["channels"], sizes(options["kernel"], dimensions),
                    sizes(options.get("stride", 1), dimensions), sizes(options.get("padding", 0), dimensions),
                    groups=options.get("groups", 1), bias=options.get("bias", True))
    if op == "dense":
        return nn.Linear(shape[0], options["outputs"], bias=options.get("bias", True))
    if op == "batch_norm":
        make = nn.BatchNorm2d if dimensions == 2 else nn.BatchNorm1d
        return make(shape[0], eps=options.get("epsilon", 1e-5), momentum=options.get("momentum", 0.1))
    if op == "dropout":
        return nn.Dropout(options["rate"])
    if op in ("max_pool", "average_pool"):
        return Pool(op, dimensions, options)
    if op == "adaptive_average_pool":
        return AdaptivePool(dimensions, options)
    return None


FUNCTIONS = {"relu": relu, "tanh": tanh, "sigmoid": torch.sigmoid, "add": add,
             "concat": lambda *parts: torch.cat(parts, 1), "flatten": lambda x: torch.flatten(x, 1)}


class Network(nn.Module):
    def __init__(self, description):
        super().__init__()
        self.nodes, self.prediction = description["nodes"], description["prediction"]
        self.inputs = [one["name"] for one in description["inputs"]]
        shapes = {one["name"]: one["shape"] for one in description["inputs"]}
        self.penalties, self.order = [], []  # (layer, coefficient); names of the layers with parameters
        for node in self.nodes:
            op, name = node["op"], node["name"]
            layer = layer_of(op, node.get("options", {}), shapes[node["inputs"][0]])
            if layer is None and op not in FUNCTIONS:
                raise ValueError(f"PyTorch's side does not know the op '{op}' of '{name}'")
            if layer is not None:
                self.put(name, layer)
                self.order.append(name)
            if node.get("l2"):
                self.penalties.append((name, node["l2"]))
            shapes[name] = node["shape"]

    def put(self, name, layer):
        """Under the path that its name is."""
        *path, last = name.split(".")
        parent = self
        for part in path:
            if part not in parent._modules:
                parent.add_module(part, nn.Module())
            parent = parent._modules[part]
        parent.add_module(last, layer)

    def forward(self, *given):
        values = dict(zip(self.inputs, given))
        for node in self.nodes:
            inputs = [values[name] for name in node["inputs"]]
            options = node.get("options", {})
            if node["op"] in FUNCTIONS:
                values[node["name"]] = FUNCTIONS[node["op"]](*inputs)
                continue
            value = self.get_submodule(node["name"])(inputs[0])
            if node["op"] == "batch_norm" and options.get("add"):
                value = value + inputs[1]
            if node["op"] in ("conv", "dense", "batch_norm") and options.get("relu"):
                value = relu(value)
            values[node["name"]] = value
        return values[self.prediction]

    def penalty(self):
        return sum(l2 * (self.get_submodule(name).weight ** 2).sum() for name, l2 in self.penalties)
