"""The networks of Trireme's zoo in TensorFlow, with the same parameter names, shapes and order.

A network is a function of `Layers`, the number of classes and its inputs. The variables have Trireme's order of axes
(convolutions O I H W, dense layers O I); the values between the layers are N H W C, the order of
TensorFlow's convolutions on a CPU.
"""

from functools import partial

import tensorflow as tf

EPSILON = 1e-5  # of batch norm
L2 = {"resnet56v2-cifar": 1e-4}  # of the networks that have a penalty


class Layers:
    """The layers with parameters or masks; makes a variable when its layer is first called, and finds it after that."""

    def __init__(self):
        self.variables = {}  # by name, in the order of definition
        self.training = False
        self.masks = {}  # by layer: what a dropout multiplies with in training
        self.seen = {}  # by layer: (samples, mean, unbiased variance) of each training pass

    def variable(self, name, shape, trained=True):
        if name not in self.variables:
            self.variables[name] = tf.Variable(tf.zeros(shape), trainable=trained)
        return self.variables[name]

    def conv(self, name, x, out, size, stride=1, padding=0, bias=True):
        shape = [out, x.shape[-1]] + [size] * (x.shape.rank - 2)
        return self.linear(name, x, shape, bias, lambda x, weight: convolve(x, weight, stride, padding))

    def dense(self, name, x, out):
        return self.linear(name, x, [out, x.shape[-1]], True, lambda x, weight: tf.matmul(x, weight, transpose_b=True))

    def linear(self, name, x, shape, bias, product):
        y = product(x, self.variable(name + ".weight", shape))
        return y + self.variable(name + ".bias", shape[:1]) if bias else y

    def norm(self, name, x):
        scale, shift, mean, var = [self.variable(f"{name}.{what}", x.shape[-1:], what in ("weight", "bias"))
                                   for what in ("weight", "bias", "running_mean", "running_var")]
        # In double precision, as PyTorch adds: FusedBatchNorm adds in single, and its roundings go one way where many
        # values are the same, as behind a dropout or around a digit.
        x, scale, shift, mean, var = [tf.cast(one, tf.float64) for one in (x, scale, shift, mean, var)]
        if self.training:
            mean, var = tf.nn.moments(x, list(range(x.shape.rank - 1)))
            count = x.shape[:-1].num_elements()
            self.seen.setdefault(name, []).append((x.shape[0], mean, var * count / (count - 1)))
        return tf.cast(tf.nn.batch_normalization(x, mean, var, shift, scale, EPSILON), tf.float32)

    def dropout(self, name, x):
        return x * self.masks[name] if self.training else x


def channels_last(x):
    return tf.transpose(x, [0, *range(2, len(x.shape)), 1])


def channels_first(x):
    rank = len(x.shape)
    return tf.transpose(x, [0, rank - 1, *range(1, rank - 1)])


def padded(x, padding, value=0.0):
    """The same on both sides, where TensorFlow's SAME has more at the end when the stride is 2."""
    return tf.pad(x, [[0, 0]] + [[padding, padding]] * (x.shape.rank - 2) + [[0, 0]], constant_values=value)


def convolve(x, weight, stride, padding):
    weight = tf.transpose(weight, [*range(2, x.shape.rank), 1, 0])
    return tf.nn.convolution(padded(x, padding), weight, stride, "VALID")


def max_pool(x, size, stride, padding=0):
    return tf.nn.max_pool(padded(x, padding, x.dtype.min), size, stride, "VALID")


def avg_pool(x):
    return tf.nn.avg_pool(x, 2, 2, "VALID")


def adaptive_avg_pool(x, size):
    """Output i is the mean of the inputs from floor(i * given / size) to ceil((i + 1) * given / size)."""
    def means(given):
        rows = []
        for i in range(size):
            begin, end = i * given // size, -(-(i + 1) * given // size)
            rows.append([1 / (end - begin) if begin <= j < end else 0.0 for j in range(given)])
        return tf.constant(rows)
    return tf.einsum("ph,nhwc,qw->npqc", means(x.shape[1]), x, means(x.shape[2]))


def global_avg_pool(x):
    return tf.reduce_mean(x, list(range(1, x.shape.rank - 1)))


def flatten(x):
    """In the order C H W."""
    return tf.reshape(channels_first(x), [x.shape[0], -1])


def lenet5(layers, classes, x):
    x = avg_pool(tf.tanh(layers.conv("conv1", x, 6, 5, padding=2 if x.shape[1] < 32 else 0)))
    x = flatten(avg_pool(tf.tanh(layers.conv("conv2", x, 16, 5))))
    x = tf.tanh(layers.dense("fc1", x, 120))
    x = tf.tanh(layers.dense("fc2", x, 84))
    return layers.dense("fc3", x, classes)


def mnist_cnn(layers, classes, x):
    x = tf.nn.relu(layers.conv("conv1", x, 32, 3))
    x = tf.nn.relu(layers.conv("conv2", x, 64, 3))
    x = flatten(layers.dropout("dropout1", max_pool(x, 2, 2)))
    x = layers.dropout("dropout2", tf.nn.relu(layers.dense("fc1", x, 128)))
    return layers.dense("fc2", x, classes)


def alexnet(layers, classes, x):
    x = max_pool(tf.nn.relu(layers.conv("features.0", x, 64, 11, 4, 2)), 3, 2)
    x = max_pool(tf.nn.relu(layers.conv("features.3", x, 192, 5, 1, 2)), 3, 2)
    x = tf.nn.relu(layers.conv("features.6", x, 384, 3, 1, 1))
    x = tf.nn.relu(layers.conv("features.8", x, 256, 3, 1, 1))
    x = max_pool(tf.nn.relu(layers.conv("features.10", x, 256, 3, 1, 1)), 3, 2)
    x = layers.dropout("classifier.0", flatten(adaptive_avg_pool(x, 6)))
    x = layers.dropout("classifier.3", tf.nn.relu(layers.dense("classifier.1", x, 4096)))
    x = tf.nn.relu(layers.dense("classifier.4", x, 4096))
    return layers.dense("classifier.6", x, classes)


def conv_norm(layers, conv, norm, x, out, size, stride=1, padding=0):
    return layers.norm(norm, layers.conv(conv, x, out, size, stride, padding, bias=False))


def projection(layers, name, x, out, stride):
    if stride == 1 and x.shape[-1] == out:
        return x
    return conv_norm(layers, name + ".0", name + ".1", x, out, 1, stride)


def basic_block(layers, name, x, width, stride):
    y = tf.nn.relu(conv_norm(layers, name + ".conv1", name + ".bn1", x, width, 3, stride, 1))
    y = conv_norm(layers, name + ".conv2", name + ".bn2", y, width, 3, 1, 1)
    return tf.nn.relu(y + projection(layers, name + ".downsample", x, width, stride))


def bottleneck(layers, name, x, width, stride):
    y = tf.nn.relu(conv_norm(layers, name + ".conv1", name + ".bn1", x, width, 1))
    y = tf.nn.relu(conv_norm(layers, name + ".conv2", name + ".bn2", y, width, 3, stride, 1))
    y = conv_norm(layers, name + ".conv3", name + ".bn3", y, 4 * width, 1)
    return tf.nn.relu(y + projection(layers, name + ".downsample", x, 4 * width, stride))


def resnet(layers, classes, x, block, blocks, widths, stem):
    """Version 1. `stem` is "imagenet" (7x7/2 and max-pool), "series" (7/2) or "cifar" (3x3)."""
    size, stride, padding = (3, 1, 1) if stem == "cifar" else (7, 2, 3)
    x = tf.nn.relu(conv_norm(layers, "conv1", "bn1", x, widths[0], size, stride, padding))
    if stem == "imagenet":
        x = max_pool(x, 3, 2, 1)
    for stage, (count, width) in enumerate(zip(blocks, widths)):
        for i in range(count):
            x = block(layers, f"layer{stage + 1}.{i}", x, width, 2 if stage > 0 and i == 0 else 1)
    return layers.dense("fc", global_avg_pool(x), classes)


def pre_activation_block(layers, name, x, width, out, stride, first_of_stage, first_of_network):
    """Three times BN, ReLU, convolution; the first block of the network has no BN and ReLU before its first one."""
    y = x if first_of_network else tf.nn.relu(layers.norm(name + ".bn1", x))
    y = layers.conv(name + ".conv1", y, width, 1, stride)
    y = layers.conv(name + ".conv2", tf.nn.relu(layers.norm(name + ".bn2", y)), width, 3, 1, 1)
    y = layers.conv(name + ".conv3", tf.nn.relu(layers.norm(name + ".bn3", y)), out, 1)
    return y + (layers.conv(name + ".shortcut", x, out, 1, stride) if first_of_stage else x)


def resnet_v2(layers, classes, x, depth):
    """Version 2 in the layout of the Keras example for CIFAR."""
    x = tf.nn.relu(layers.norm("bn1", layers.conv("conv1", x, 16, 3, 1, 1)))
    width = 16
    for stage in range(3):
        out = width * (4 if stage == 0 else 2)
        for i in range((depth - 2) // 9):
            x = pre_activation_block(layers, f"layer{stage + 1}.{i}", x, width, out, 2 if stage > 0 and i == 0 else 1,
                                     i == 0, stage == 0 and i == 0)
        width = out
    x = tf.nn.relu(layers.norm("bn2", x))
    return layers.dense("fc", global_avg_pool(x), classes)


def dense_layer(layers, name, x, growth):
    y = layers.conv(name + ".conv1", tf.nn.relu(layers.norm(name + ".norm1", x)), 4 * growth, 1, bias=False)
    y = tf.nn.relu(layers.norm(name + ".norm2", layers.dropout(name + ".dropout1", y)))
    y = layers.conv(name + ".conv2", y, growth, 3, 1, 1, bias=False)
    return tf.concat([x, layers.dropout(name + ".dropout2", y)], -1)


def transition(layers, name, x):
    x = tf.nn.relu(layers.norm(name + ".norm", x))
    return avg_pool(layers.conv(name + ".conv", x, x.shape[-1] // 2, 1, bias=False))


def densenet_bc(layers, classes, x, depth, growth):
    x = layers.conv("features.conv0", x, 2 * growth, 3, 1, 1, bias=False)
    for block in range(1, 4):
        for i in range(1, (depth - 4) // 6 + 1):
            x = dense_layer(layers, f"features.denseblock{block}.denselayer{i}", x, growth)
        if block < 3:
            x = transition(layers, f"features.transition{block}", x)
    x = tf.nn.relu(layers.norm("features.norm", x))
    return layers.dense("classifier", global_avg_pool(x), classes)


def redshift_cnn(layers, classes, x):
    for name in ("conv1", "conv2", "conv3"):
        x = max_pool(tf.nn.relu(layers.conv(name, x, 16, 8)), 2, 2)
    return layers.dense("fc", flatten(x), classes)


def landcover_branch(layers, name, x):
    for i, width in enumerate((64, 128, 256)):
        x = tf.nn.relu(layers.conv(f"{name}.conv{2 * i + 1}", x, width, 3, 1, 1))
        x = tf.nn.relu(layers.conv(f"{name}.conv{2 * i + 2}", x, width, 3, 1, 1))
        x = max_pool(x, 2, 2)
    return x


def landcover_cnn(layers, classes, *images):
    x = tf.concat([landcover_branch(layers, f"branch{i + 1}", image) for i, image in enumerate(images)], -1)
    x = tf.nn.relu(layers.conv("trunk.conv1", x, 512, 1))
    x = tf.nn.relu(layers.conv("trunk.conv2", x, 512, 3, 1, 1))
    x = tf.nn.relu(layers.dense("fc1", flatten(x), 1024))
    return layers.dense("fc2", layers.dropout("dropout", x), classes)


def mlp(layers, classes, x, hidden="128x64", dropout="0"):
    x, count = flatten(x), 1
    for size in hidden.split("x") if hidden != "none" else []:
        x = tf.nn.relu(layers.dense(f"fc{count}", x, int(size)))
        if float(dropout) > 0:
            x = layers.dropout(f"dropout{count}", x)
        count += 1
    return layers.dense(f"fc{count}", x, classes)


def resnet_cifar(depth):
    return partial(resnet, block=basic_block, blocks=[(depth - 2) // 6] * 3, widths=[16, 32, 64], stem="cifar")


WIDE = [64, 128, 256, 512]

MODELS = {
    "lenet5": lenet5,
    "mnist-cnn": mnist_cnn,
    "alexnet": alexnet,
    "resnet18": partial(resnet, block=basic_block, blocks=[2, 2, 2, 2], widths=WIDE, stem="imagenet"),
    "resnet50": partial(resnet, block=bottleneck, blocks=[3, 4, 6, 3], widths=WIDE, stem="imagenet"),
    "resnet18-cifar": partial(resnet, block=basic_block, blocks=[2, 2, 2, 2], widths=WIDE, stem="cifar"),
    "resnet20-cifar": resnet_cifar(20),
    "resnet32-cifar": resnet_cifar(32),
    "resnet44-cifar": resnet_cifar(44),
    "resnet50-cifar": resnet_cifar(50),
    "resnet56-cifar": resnet_cifar(56),
    "resnet110-cifar": resnet_cifar(110),
    "resnet56v2-cifar": partial(resnet_v2, depth=56),
    "densenet40-12": partial(densenet_bc, depth=40, growth=12),
    "redshift-cnn": redshift_cnn,
    "landcover-cnn": landcover_cnn,
    "resnet1d": partial(resnet, block=basic_block, blocks=[2, 2, 2], widths=[32, 64, 128], stem="series"),
    "mlp": mlp,
}


def network(text):
    """The function of a model by text: "lenet5", or with options "mlp:hidden=64x32"."""
    name, _, options = text.partition(":")
    return partial(MODELS[name], **dict(option.split("=", 1) for option in options.split(",") if option))


def penalty(model, variables):
    """What the network adds to its loss: l2 * sum(w^2) over the kernels of its convolutions."""
    return L2[model] * tf.add_n([tf.reduce_sum(w ** 2) for w in variables if w.shape.rank == 4])
