"""The networks of Trireme's zoo as PyTorch modules, with the same parameter names, shapes and order.

    from networks import build
    net = build("lenet5", [(1, 28, 28)], classes=10)
    logits = net(images)                      # networks with several inputs take as many tensors

Works with PyTorch 1.13 and 2.x; needs nothing but PyTorch. Run as a program it prints every trained parameter
("name size x size") and statistic of the models named, or of all of them:

    python3 networks.py [model ...]
"""

import math
import sys

import torch
from torch import nn

_in_place = False


def use_in_place(on):
    """The networks of this process then apply ReLU and tanh, and add shortcuts, in place. Call it before build()."""
    global _in_place
    _in_place = on


def relu(x):
    return torch.relu_(x) if _in_place else torch.relu(x)


def tanh(x):
    return torch.tanh_(x) if _in_place else torch.tanh(x)


def add(x, shortcut):
    return x.add_(shortcut) if _in_place else x + shortcut


class LeNet5(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        channels, height, _ = inputs[0]
        self.conv1 = nn.Conv2d(channels, 6, 5, padding=2 if height < 32 else 0)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(flat_size(self.features, inputs[0]), 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, classes)

    def features(self, x):
        x = nn.functional.avg_pool2d(tanh(self.conv1(x)), 2)
        x = nn.functional.avg_pool2d(tanh(self.conv2(x)), 2)
        return torch.flatten(x, 1)

    def forward(self, x):
        x = tanh(self.fc1(self.features(x)))
        return self.fc3(tanh(self.fc2(x)))


class MnistCnn(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs[0][0], 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.dropout1 = nn.Dropout(0.25)
        self.dropout2 = nn.Dropout(0.5)
        self.fc1 = nn.Linear(flat_size(self.features, inputs[0]), 128)
        self.fc2 = nn.Linear(128, classes)

    def features(self, x):
        x = relu(self.conv2(relu(self.conv1(x))))
        return torch.flatten(self.dropout1(nn.functional.max_pool2d(x, 2)), 1)

    def forward(self, x):
        return self.fc2(self.dropout2(relu(self.fc1(self.features(x)))))


class AlexNet(nn.Module):
    """As in torchvision."""

    def __init__(self, inputs, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(inputs[0][0], 64, 11, stride=4, padding=2), nn.ReLU(_in_place), nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(_in_place), nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(_in_place),
            nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(_in_place),
            nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(_in_place), nn.MaxPool2d(3, 2))
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.Sequential(
            nn.Dropout(0.5), nn.Linear(256 * 6 * 6, 4096), nn.ReLU(_in_place),
            nn.Dropout(0.5), nn.Linear(4096, 4096), nn.ReLU(_in_place),
            nn.Linear(4096, classes))

    def forward(self, x):
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = projection(channels, width, stride)

    def forward(self, x):
        y = self.bn2(self.conv2(relu(self.bn1(self.conv1(x)))))
        return relu(add(y, self.downsample(x)))


class Bottleneck(nn.Module):
    expansion = 4

    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.downsample = projection(channels, 4 * width, stride)

    def forward(self, x):
        y = relu(self.bn1(self.conv1(x)))
        y = relu(self.bn2(self.conv2(y)))
        return relu(add(self.bn3(self.conv3(y)), self.downsample(x)))


def projection(channels, out, stride):
    if stride == 1 and channels == out:
        return nn.Identity()
    return nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))


class ResNet(nn.Module):
    """Version 1. `stem` is "imagenet" (7x7/2 and max-pool) or "cifar" (3x3)."""

    def __init__(self, inputs, classes, block, blocks, widths, stem):
        super().__init__()
        channels = widths[0]
        if stem == "imagenet":
            self.conv1 = nn.Conv2d(inputs[0][0], channels, 7, 2, 3, bias=False)
        else:
            self.conv1 = nn.Conv2d(inputs[0][0], channels, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.maxpool = nn.MaxPool2d(3, 2, 1) if stem == "imagenet" else nn.Identity()
        self.stages = len(widths)
        for stage, (count, width) in enumerate(zip(blocks, widths)):
            layers = []
            for i in range(count):
                layers.append(block(channels, width, 2 if stage > 0 and i == 0 else 1))
                channels = width * block.expansion
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layers))
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.maxpool(relu(self.bn1(self.conv1(x))))
        for stage in range(self.stages):
            x = getattr(self, f"layer{stage + 1}")(x)
        return self.fc(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


class PreActivationBlock(nn.Module):
    """Three times BN, ReLU, convolution; the first block of the network has no BN and ReLU before its first one."""

    def __init__(self, channels, width, out, stride, first_of_stage, first_of_network):
        super().__init__()
        if not first_of_network:
            self.bn1 = nn.BatchNorm2d(channels)
        self.conv1 = nn.Conv2d(channels, width, 1, stride)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1)
        self.bn3 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, out, 1)
        self.shortcut = nn.Conv2d(channels, out, 1, stride) if first_of_stage else nn.Identity()
        self.first_of_network = first_of_network

    def forward(self, x):
        y = x if self.first_of_network else relu(self.bn1(x))
        y = relu(self.bn2(self.conv1(y)))
        y = relu(self.bn3(self.conv2(y)))
        return add(self.conv3(y), self.shortcut(x))


class ResNetV2(nn.Module):
    """Version 2 in the layout of the Keras example for CIFAR; add penalty(net) to its loss."""

    l2 = 1e-4

    def __init__(self, inputs, classes, depth):
        super().__init__()
        count = (depth - 2) // 9
        self.conv1 = nn.Conv2d(inputs[0][0], 16, 3, 1, 1)
        self.bn1 = nn.BatchNorm2d(16)
        channels = width = 16
        for stage in range(3):
            out = width * (4 if stage == 0 else 2)
            layers = []
            for i in range(count):
                layers.append(PreActivationBlock(channels, width, out, 2 if stage > 0 and i == 0 else 1,
                                                 i == 0, stage == 0 and i == 0))
                channels = out
            setattr(self, f"layer{stage + 1}", nn.Sequential(*layers))
            width = out
        self.bn2 = nn.BatchNorm2d(channels)
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        x = relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        x = relu(self.bn2(x))
        return self.fc(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


class DenseLayer(nn.Module):
    def __init__(self, channels, growth, dropout):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(channels)
        self.conv1 = nn.Conv2d(channels, 4 * growth, 1, bias=False)
        self.dropout1 = nn.Dropout(dropout)
        self.norm2 = nn.BatchNorm2d(4 * growth)
        self.conv2 = nn.Conv2d(4 * growth, growth, 3, 1, 1, bias=False)
        self.dropout2 = nn.Dropout(dropout)

    def forward(self, x):
        y = self.dropout1(self.conv1(relu(self.norm1(x))))
        y = self.dropout2(self.conv2(relu(self.norm2(y))))
        return torch.cat([x, y], 1)


class Transition(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.BatchNorm2d(channels)
        self.conv = nn.Conv2d(channels, channels // 2, 1, bias=False)

    def forward(self, x):
        return nn.functional.avg_pool2d(self.conv(relu(self.norm(x))), 2)


class DenseNetBC(nn.Module):
    def __init__(self, inputs, classes, depth, growth, dropout):
        super().__init__()
        count = (depth - 4) // 6
        channels = 2 * growth
        self.features = nn.Sequential()
        self.features.add_module("conv0", nn.Conv2d(inputs[0][0], channels, 3, 1, 1, bias=False))
        for block in range(1, 4):
            layers = nn.Sequential()
            for i in range(1, count + 1):
                layers.add_module(f"denselayer{i}", DenseLayer(channels, growth, dropout))
                channels += growth
            self.features.add_module(f"denseblock{block}", layers)
            if block < 3:
                self.features.add_module(f"transition{block}", Transition(channels))
                channels //= 2
        self.features.add_module("norm", nn.BatchNorm2d(channels))
        self.classifier = nn.Linear(channels, classes)

    def forward(self, x):
        x = relu(self.features(x))
        return self.classifier(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


class RedshiftCnn(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.conv1 = nn.Conv1d(inputs[0][0], 16, 8)
        self.conv2 = nn.Conv1d(16, 16, 8)
        self.conv3 = nn.Conv1d(16, 16, 8)
        self.fc = nn.Linear(flat_size(self.features, inputs[0]), classes)

    def features(self, x):
        for conv in (self.conv1, self.conv2, self.conv3):
            x = nn.functional.max_pool1d(relu(conv(x)), 2)
        return torch.flatten(x, 1)

    def forward(self, x):
        return self.fc(self.features(x))


class Block1d(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1 = nn.Conv1d(channels, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm1d(width)
        self.conv2 = nn.Conv1d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm1d(width)
        self.downsample = nn.Identity() if stride == 1 and channels == width else nn.Sequential(
            nn.Conv1d(channels, width, 1, stride, bias=False), nn.BatchNorm1d(width))

    def forward(self, x):
        y = self.bn2(self.conv2(relu(self.bn1(self.conv1(x)))))
        return relu(add(y, self.downsample(x)))


class ResNet1d(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.conv1 = nn.Conv1d(inputs[0][0], 32, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm1d(32)
        self.layer1 = nn.Sequential(Block1d(32, 32, 1), Block1d(32, 32, 1))
        self.layer2 = nn.Sequential(Block1d(32, 64, 2), Block1d(64, 64, 1))
        self.layer3 = nn.Sequential(Block1d(64, 128, 2), Block1d(128, 128, 1))
        self.fc = nn.Linear(128, classes)

    def forward(self, x):
        x = self.layer3(self.layer2(self.layer1(relu(self.bn1(self.conv1(x))))))
        return self.fc(torch.flatten(nn.functional.adaptive_avg_pool1d(x, 1), 1))


class LandcoverBranch(nn.Module):
    def __init__(self, channels):
        super().__init__()
        for i, width in enumerate((64, 64, 128, 128, 256, 256)):
            setattr(self, f"conv{i + 1}", nn.Conv2d(channels, width, 3, 1, 1))
            channels = width

    def forward(self, x):
        for first, second in (("conv1", "conv2"), ("conv3", "conv4"), ("conv5", "conv6")):
            x = relu(getattr(self, second)(relu(getattr(self, first)(x))))
            x = nn.functional.max_pool2d(x, 2)
        return x


class LandcoverTrunk(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, 512, 1)
        self.conv2 = nn.Conv2d(512, 512, 3, 1, 1)

    def forward(self, x):
        return relu(self.conv2(relu(self.conv1(x))))


class LandcoverCnn(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.branch1 = LandcoverBranch(inputs[0][0])
        self.branch2 = LandcoverBranch(inputs[1][0])
        self.branch3 = LandcoverBranch(inputs[2][0])
        self.trunk = LandcoverTrunk(3 * 256)
        _, height, width = inputs[0]
        self.fc1 = nn.Linear(512 * (height // 8) * (width // 8), 1024)
        self.dropout = nn.Dropout(0.5)
        self.fc2 = nn.Linear(1024, classes)

    def forward(self, a, b, c):
        x = torch.cat([self.branch1(a), self.branch2(b), self.branch3(c)], 1)
        x = relu(self.fc1(torch.flatten(self.trunk(x), 1)))
        return self.fc2(self.dropout(x))


class Mlp(nn.Module):
    def __init__(self, inputs, classes, hidden="128x64", dropout="0"):
        super().__init__()
        sizes = [math.prod(inputs[0]), *(int(size) for size in hidden.split("x") if hidden != "none"), classes]
        self.layers = len(sizes) - 1
        for i in range(self.layers):
            setattr(self, f"fc{i + 1}", nn.Linear(sizes[i], sizes[i + 1]))
            if i + 1 < self.layers and float(dropout) > 0:
                setattr(self, f"dropout{i + 1}", nn.Dropout(float(dropout)))

    def forward(self, x):
        x = torch.flatten(x, 1)
        for i in range(1, self.layers):
            x = getattr(self, f"dropout{i}", nn.Identity())(relu(getattr(self, f"fc{i}")(x)))
        return getattr(self, f"fc{self.layers}")(x)


def flat_size(features, shape):
    """How many values `features` makes of one sample of this shape."""
    with torch.no_grad():
        return features(torch.zeros(1, *shape)).shape[1]


def resnet_cifar(depth):
    count = (depth - 2) // 6
    return lambda inputs, classes: ResNet(inputs, classes, BasicBlock, [count] * 3, [16, 32, 64], "cifar")


WIDE = [64, 128, 256, 512]
IMAGE = [(3, 32, 32)]

# name: (builder, default inputs, default classes)
MODELS = {
    "lenet5": (LeNet5, IMAGE, 10),
    "mnist-cnn": (MnistCnn, [(1, 28, 28)], 10),
    "alexnet": (AlexNet, [(3, 64, 64)], 10),
    "resnet18": (lambda i, c: ResNet(i, c, BasicBlock, [2, 2, 2, 2], WIDE, "imagenet"), IMAGE, 10),
    "resnet50": (lambda i, c: ResNet(i, c, Bottleneck, [3, 4, 6, 3], WIDE, "imagenet"), IMAGE, 10),
    "resnet18-cifar": (lambda i, c: ResNet(i, c, BasicBlock, [2, 2, 2, 2], WIDE, "cifar"), IMAGE, 10),
    "resnet20-cifar": (resnet_cifar(20), IMAGE, 10),
    "resnet32-cifar": (resnet_cifar(32), IMAGE, 10),
    "resnet44-cifar": (resnet_cifar(44), IMAGE, 10),
    "resnet50-cifar": (resnet_cifar(50), IMAGE, 10),
    "resnet56-cifar": (resnet_cifar(56), IMAGE, 10),
    "resnet110-cifar": (resnet_cifar(110), IMAGE, 10),
    "resnet56v2-cifar": (lambda i, c: ResNetV2(i, c, 56), IMAGE, 10),
    "densenet40-12": (lambda i, c: DenseNetBC(i, c, 40, 12, 0.1), [(1, 28, 28)], 10),
    "redshift-cnn": (RedshiftCnn, [(1, 1800)], 800),
    "landcover-cnn": (LandcoverCnn, [(4, 64, 64), (2, 64, 64), (1, 64, 64)], 10),
    "resnet1d": (ResNet1d, [(1, 1800)], 10),
    "mlp": (Mlp, [(1, 28, 28)], 10),
}
ANY_SHAPE = {"mlp"}


def split(text):
    """"mlp:hidden=64x32,dropout=0.1" -> "mlp", {"hidden": "64x32", "dropout": "0.1"}"""
    name, _, options = text.partition(":")
    return name, dict(option.split("=", 1) for option in options.split(",") if option)


def build(name, inputs=None, classes=0):
    """The network `name` (also "mlp:hidden=64x32") for samples of the shapes `inputs` (a list, channels first); None and 0: its defaults."""
    name, options = split(name)
    if name not in MODELS:
        raise ValueError(f"there is no model '{name}'; there are: {', '.join(MODELS)}")
    builder, default_inputs, default_classes = MODELS[name]
    inputs = [tuple(shape) for shape in (inputs or default_inputs)]
    if name not in ANY_SHAPE and [len(shape) for shape in inputs] != [len(shape) for shape in default_inputs]:
        raise ValueError(f"model '{name}' takes inputs like {default_inputs}, not {inputs}")
    return builder(inputs, classes or default_classes, **options)


def penalty(net):
    """What the network adds to its loss: l2 * sum(w^2) over the kernels of its convolutions; 0 without one."""
    if hasattr(net, "penalties"):  # of described.py
        return net.penalty() if net.penalties else 0.0
    coefficient = getattr(net, "l2", 0.0)
    if not coefficient:
        return 0.0
    return coefficient * sum((m.weight ** 2).sum() for m in net.modules() if isinstance(m, nn.Conv2d))


def parameters_and_statistics(net):
    """(name, tensor, trained) in Trireme's order of definition: module by module, parameters before statistics."""
    found = net.state_dict(keep_vars=True)
    if hasattr(net, "order"):  # of described.py: by node, whose names may not follow the order
        found = {f"{layer}.{name}": tensor for layer in net.order
                 for name, tensor in net.get_submodule(layer).state_dict(keep_vars=True).items()}
    for name, tensor in found.items():
        if not name.endswith("num_batches_tracked"):
            yield name, tensor, tensor.requires_grad


def main():
    for name in sys.argv[1:] or MODELS:
        print("model", name)
        for parameter, tensor, trained in parameters_and_statistics(build(name)):
            print("trained" if trained else "statistic", parameter, "x".join(str(size) for size in tensor.shape))


if __name__ == "__main__":
    main()
