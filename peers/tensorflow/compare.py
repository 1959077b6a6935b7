"""TensorFlow's side of `trireme compare`: the same network from the same weights, fed with the same batches.

The requests and answers are described in peers/README.md, perturbed steps in ../pytorch/perturb.py.
"""

import contextlib
import math
import os
import sys
from functools import partial

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"  # errors only; read when TensorFlow is loaded, like the next
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))

import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402

import answering  # noqa: E402
import comparing  # noqa: E402
import networks  # noqa: E402
import tensors  # noqa: E402

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
NOISE, TIP = 64, 256  # epsilons, as in ../pytorch/perturb.py
NORM_MOMENTUM = 0.1


def size_of(x):
    """The root mean square of each channel, in a shape that broadcasts."""
    return tf.sqrt(tf.reduce_mean(tf.stop_gradient(x) ** 2, list(range(len(x.shape) - 1)), keepdims=True))


def noise_for(x, epsilons):
    """What is exactly zero stays so."""
    scale = epsilons * numpy.finfo(numpy.float32).eps * size_of(x)
    return tf.stop_gradient(scale * (tf.random.uniform(x.shape) - 0.5) * tf.cast(x != 0, tf.float32))


@contextlib.contextmanager
def tipped(opens):
    """While it lasts, ReLUs whose input is zero but for rounding are open, or closed, and max-pools get noise."""
    plain_relu, plain_pool = tf.nn.relu, tf.nn.max_pool

    @tf.custom_gradient
    def relu(x):
        tip = TIP * numpy.finfo(numpy.float32).eps * size_of(x)
        is_open = tf.cast((x > (-tip if opens else tip)) & (x != 0), tf.float32)
        return tf.abs(x) * is_open, lambda diff: diff * is_open

    def max_pool(x, *args, **named):
        finite = tf.where(x > x.dtype.min, x, 0.0)  # padding is the smallest number
        return plain_pool(x + noise_for(finite, TIP), *args, **named)

    tf.nn.relu, tf.nn.max_pool = relu, max_pool
    try:
        yield
    finally:
        tf.nn.relu, tf.nn.max_pool = plain_relu, plain_pool


class ComparedLayers(networks.Layers):
    """Lets the convolutions and dense layers round otherwise, or keeps what the layers see, when told to."""

    def __init__(self):
        super().__init__()
        self.perturbed = False
        self.recorded = None  # by layer: its input and output

    def linear(self, name, x, shape, bias, product):
        if self.perturbed:
            order = tf.random.shuffle(tf.range(x.shape[-1]))
            y = super().linear(name, x, shape, bias, lambda x, weight: product(tf.gather(x, order, axis=-1),
                                                                               tf.gather(weight, order, axis=1)))
            return y + noise_for(y, NOISE)
        return self.record(name, x, lambda x: super(ComparedLayers, self).linear(name, x, shape, bias, product))

    def norm(self, name, x):
        return self.record(name, x, lambda x: super(ComparedLayers, self).norm(name, x))

    def record(self, name, x, layer):
        if self.recorded is None:
            return layer(x)
        x = tf.identity(x)  # whose gradient is that of this layer alone
        self.recorded[name] = x, layer(x)
        return self.recorded[name][1]

    def move_statistics(self):
        """Once per step, by what all oars have seen."""
        for name, seen in self.seen.items():
            samples = sum(count for count, _, _ in seen)
            for which, running in ((1, "running_mean"), (2, "running_var")):
                running = self.variables[f"{name}.{running}"]
                combined = sum(one[0] * one[which] for one in seen) / samples
                running.assign_add(NORM_MOMENTUM * (tf.cast(combined, tf.float32) - running))
        self.seen = {}


# The kernels are TensorFlow's own, and their formulas are PyTorch's. Keras's are others: SGD multiplies with the rate
# before the momentum, Adagrad has its epsilon under the root, and the decay is always decoupled.


class Sgd:
    def __init__(self, momentum, nesterov):
        self.momentum, self.nesterov = momentum, nesterov
        self.slots = ["momentum"] if momentum else []

    def move(self, weight, gradient, lr, _, accum=None):
        if accum is None:
            weight.assign_sub(lr * gradient)
        else:
            tf.raw_ops.ResourceApplyMomentum(var=weight.handle, accum=accum.handle, lr=lr, grad=gradient,
                                             momentum=self.momentum, use_nesterov=self.nesterov)


class Adagrad:
    slots = ["square_sum"]

    def __init__(self, eps):
        self.eps = eps

    def move(self, weight, gradient, lr, _, square_sum):
        tf.raw_ops.ResourceApplyAdagradV2(var=weight.handle, accum=square_sum.handle, lr=lr, epsilon=self.eps,
                                          grad=gradient)


class Adadelta:
    slots = ["square_avg", "delta_avg"]

    def __init__(self, rho, eps):
        self.rho, self.eps = rho, eps

    def move(self, weight, gradient, lr, _, square_avg, delta_avg):
        tf.raw_ops.ResourceApplyAdadelta(var=weight.handle, accum=square_avg.handle, accum_update=delta_avg.handle,
                                         lr=lr, rho=self.rho, epsilon=self.eps, grad=gradient)


class Adam:
    """Without the kernel: its epsilon comes before the bias correction, and its 1 - beta2 loses digits in float32."""

    slots = ["mean", "square_avg"]

    def __init__(self, beta1, beta2, eps):
        self.beta1, self.beta2, self.eps = beta1, beta2, eps

    def move(self, weight, gradient, lr, step, mean, square_avg):
        mean.assign(self.beta1 * mean + (1 - self.beta1) * gradient)
        square_avg.assign(self.beta2 * square_avg + (1 - self.beta2) * gradient ** 2)
        root = tf.sqrt(square_avg) / math.sqrt(1 - self.beta2 ** step)
        weight.assign_sub(lr / (1 - self.beta1 ** step) * mean / (root + self.eps))


RULES = {"sgd": Sgd, "adagrad": Adagrad, "adadelta": Adadelta, "adam": Adam}


class Optimizer:
    """Of Trireme's "rule:option=value,..." with all options, as `trireme list optimizers` prints them."""

    def __init__(self, text, trained):
        rule, _, rest = text.partition(":")
        given = {}
        for option in rest.split(","):
            name, _, value = option.partition("=")
            given[name.replace("-", "_")] = value == "yes" if value in ("yes", "no") else float(value)
        del given["lr"]  # each step brings its own
        self.decay, self.decoupled = given.pop("weight_decay"), given.pop("decoupled")
        if rule not in RULES:
            raise answering.Refused(f"TensorFlow's side has no optimizer {rule}")
        self.rule = RULES[rule](**given)
        self.trained, self.steps = trained, 0
        self.state = {f"slot.{slot}.{name}": tf.Variable(tf.zeros_like(weight))
                      for slot in self.rule.slots for name, weight in trained.items()}

    def move(self, gradients, lr):
        self.steps += 1
        for name, weight in self.trained.items():
            gradient = gradients[name]
            if self.decoupled:
                weight.assign(weight * (1 - lr * self.decay))
            elif self.decay:
                gradient += self.decay * weight
            self.rule.move(weight, gradient, lr, self.steps,
                           *[self.state[f"slot.{slot}.{name}"] for slot in self.rule.slots])


class Comparison:
    def __init__(self, model, inputs, classes, weights, optimizer, results):
        if model.partition(":")[0] not in networks.MODELS:
            raise answering.Refused(f"TensorFlow's side has no model {model}")
        self.model = model
        self.compared = ComparedLayers()
        self.net = partial(networks.network(model), self.compared, classes)
        self.net(*[networks.channels_last(tf.zeros([1, *shape])) for shape in inputs])  # makes the variables
        self.variables = self.compared.variables
        self.load(tensors.read(weights))
        self.trained = {name: variable for name, variable in self.variables.items() if variable.trainable}
        self.optimizer = Optimizer(optimizer, self.trained)
        tensors.write(results, {**self.variables, **self.optimizer.state})

    def load(self, given):
        own = self.variables
        for name in own.keys() | given.keys():
            if name not in own or name not in given:
                raise ValueError(f"{name} is only in {'the file' if name in given else 'the network'}")
            if own[name].shape != given[name].shape:
                raise ValueError(f"{name} is {list(own[name].shape)} in the network and {list(given[name].shape)} in "
                                 "the file")
            own[name].assign(given[name])

    def inputs(self, batch, chosen=slice(None)):
        return [networks.channels_last(batch[f"input.{i}"][chosen])
                for i in range(sum(name.startswith("input.") for name in batch))]

    def one_oar(self, batch, begin, end):
        """The sum of its losses."""
        self.compared.masks = {name.removeprefix("mask."): networks.channels_last(values[begin:end])
                               for name, values in batch.items() if name.startswith("mask.")}
        target = batch["target"][begin:end].reshape(-1).astype(numpy.int64)
        output = self.net(*self.inputs(batch, slice(begin, end)))
        return tf.reduce_sum(tf.nn.sparse_softmax_cross_entropy_with_logits(target, output))

    def about(self):
        return {"dropouts": None}  # the masks say it all

    def state_and_weights(self):
        return {name: values.numpy() for name, values in
                {**self.optimizer.state, **{"weight." + name: one for name, one in self.variables.items()}}.items()}

    def train(self, batch, oars, lr):
        """One step; its loss, penalty and gradients."""
        samples = len(batch["target"])
        self.compared.training = True
        loss, gradients = 0.0, {}
        for begin, end in oars:
            if begin < end:
                with tf.GradientTape() as tape:
                    mine = self.one_oar(batch, begin, end)
                    share = mine / samples
                loss += mine.numpy().item()
                for name, gradient in tape.gradient(share, self.trained).items():
                    if self.compared.perturbed:
                        gradient += noise_for(gradient, NOISE)
                    gradients[name] = gradients[name] + gradient if name in gradients else gradient
        found = {"gradient." + name: gradient.numpy() for name, gradient in gradients.items()}
        penalty = self.add_penalty(gradients)
        self.optimizer.move(gradients, lr)
        self.compared.move_statistics()
        return {"loss": loss / samples, "penalty": penalty}, found

    def output(self, batch):
        self.compared.training = False
        return self.net(*self.inputs(batch)).numpy()

    def step(self, batch, oars, lr, results, perturbed=()):
        batch = tensors.read(batch)
        state = [*self.variables.values(), *self.optimizer.state.values()]
        before, answers = [one.numpy() for one in state], []
        for number, path in enumerate(perturbed):
            self.compared.perturbed = True
            with tipped(opens=number % 2 == 0):
                answer, found = self.train(batch, oars, lr)
            self.compared.perturbed = False
            answers.append(answer)
            tensors.write(path, {**found, **self.state_and_weights(), "output": self.output(batch)})
            for one, values in zip(state, before):
                one.assign(values)
            self.optimizer.steps -= 1
        answer, found = self.train(batch, oars, lr)
        if results:
            found = {**found, **self.state_and_weights(), "output": self.output(batch)}
            tensors.write(results, found)
            answer["digests"] = tensors.digests(found)
        return {**answer, "perturbed": answers}

    def update(self, gradients, lr, max_norm, results):
        given = tensors.read(gradients)
        gradients = {name: tf.constant(given["gradient." + name]) for name in self.trained}
        if max_norm:
            clipped, _ = tf.clip_by_global_norm(list(gradients.values()), max_norm)
            gradients = dict(zip(gradients, clipped))
        penalty = self.add_penalty(gradients)
        self.optimizer.move(gradients, lr)
        tensors.write(results, self.state_and_weights())
        return {"penalty": penalty}

    def learning_rates(self, **_):
        return {"rates": None}  # each step brings its own

    def normalize(self, given, results):
        given, found = tensors.read(given), {}
        for name in [name for name in given if name.startswith("input.")]:
            number = name.removeprefix("input.")
            channels = (1, -1) + (1,) * (given[name].ndim - 2)
            found[name] = ((given[name] - given["mean." + number].reshape(channels)) /
                           given["divisor." + number].reshape(channels))
        tensors.write(results, found)
        return {}

    def probe(self, inputs, results):
        self.compared.training = True
        found = {name.removesuffix("input") + "output":
                 networks.channels_first(self.compared.norm(name.removesuffix(".input"),
                                                            networks.channels_last(values)))
                 for name, values in tensors.read(inputs).items()}
        self.compared.seen = {}
        tensors.write(results, found)
        return {}

    def add_penalty(self, gradients):
        """Adds the gradient of the network's penalty, which it returns."""
        if self.model not in networks.L2:
            return 0.0
        with tf.GradientTape() as tape:
            penalty = networks.penalty(self.model, self.trained.values())
        for name, gradient in tape.gradient(penalty, self.trained).items():
            if gradient is not None:
                gradients[name] += gradient
        return penalty.numpy().item()

    def layers(self, batch, oar, results):
        self.compared.training, self.compared.recorded = True, {}
        with tf.GradientTape() as tape:
            total = self.one_oar(tensors.read(batch), *oar)
            loss = total / (oar[1] - oar[0])
        recorded, self.compared.recorded, self.compared.seen = self.compared.recorded, None, {}
        diffs, gradients = tape.gradient(loss, [recorded, self.trained])
        found = {}
        for name, (x, y) in recorded.items():
            diff_x, diff_y = diffs[name]
            found.update({f"{name}.input": x, f"{name}.output": y, f"{name}.diff_output": diff_y})
            if diff_x is not None:
                found[name + ".diff_input"] = diff_x
        found = {name: networks.channels_first(values) for name, values in found.items()}
        for name, gradient in gradients.items():
            layer, _, parameter = name.rpartition(".")
            found[f"{layer}.diff.{parameter}"] = gradient
        tensors.write(results, found)
        return {"loss": total.numpy().item()}

    def evaluate(self, batch, results):
        tensors.write(results, {"output": self.output(tensors.read(batch))})
        return {}


def main():
    tf.random.set_seed(SEED)
    tf.config.threading.set_intra_op_parallelism_threads(THREADS)
    tf.config.threading.set_inter_op_parallelism_threads(THREADS)
    answering.serve(comparing.Answers(Comparison, {"version": tf.__version__, "blas": "own"}))


if __name__ == "__main__":
    main()
