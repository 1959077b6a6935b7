#include "train/experiment/options.h"

#include <array>

namespace trireme::train {
namespace {

using Option = base::OptionSpec;

constexpr std::array kOptions{
    Option{"What to train", "model", "NAME", "mnist-cnn",
           "network of the zoo (trireme list models), or a file that describes one: FILE.toml or FILE.json"},
    Option{"What to train", "data", "NAME", "fashion-mnist",
           "dataset (trireme list datasets), a file or folder of your own, or 'synthetic'"},
    Option{"What to train", "data-dir", "DIR", "",
           "folder of the dataset; default: $TRIREME_DATA, else where Debian installs it"},
    Option{"What to train", "validation", "SHARE", "auto",
           "share of the training set kept apart to choose the best weights on, of every class, as 10%; 0%: choose on "
           "the test set; none: choose none; auto: 10% of files and folders, none of datasets with a name"},
    Option{"What to train", "augment", "LIST", "none",
           "random changes of training images, several as crop,flip (trireme list augmentations)"},
    Option{"What to train", "normalize", "KIND", "auto",
           "standard (per channel), mean (minus mean, /255), scale (/255), none; auto: standard, none for synthetic"},
    Option{"What to train", "target", "KIND", "classes",
           "the targets of synthetic samples and of files of your own: classes, labels (several at once) or values"},
    Option{"What to train", "target-scale", "auto|standard|none", "auto",
           "how values are learnt: standard (minus their mean, divided by their deviation) or as they are; results are "
           "in the data's units; auto: standard for files of your own"},
    Option{"What to train", "target-column", "NAMES", "",
           "of a table, what to predict: names in its header or numbers from 1; default: label, class or target, else "
           "the last column"},
    Option{"What to train", "ignore-columns", "NAMES", "", "columns of a table to leave out"},
    Option{"What to train", "category-columns", "NAMES", "",
           "columns of a table whose numbers are codes, as of postcodes; columns of words are found"},
    Option{"What to train", "missing", "refuse|mean|zero", "refuse",
           "missing values in the inputs of a table: refuse, or fill in the column's mean or 0"},
    Option{"What to train", "image-size", "SIZE", "auto",
           "resize images to N (NxN) or ROWSxCOLUMNS; auto: to what the network needs, else one from their sizes"},
    Option{"What to train", "image-fit", "stretch|crop|pad", "stretch",
           "how files of images of another shape are resized: stretched, cut, or whole with black on two sides"},
    Option{"What to train", "image-upright", "yes|no", "yes",
           "turn images as the camera noted, or leave them as they are stored"},
    Option{"What to train", "skip-bad", "", "no", "leave images out that cannot be decoded, and count them"},
    Option{"What to train", "distribute", "SCHEME", "global",
           "whose samples a batch is made of: global, contiguous:workers=N, by-label:workers=N, fraction=F:workers=N"},
    Option{"What to train", "train-samples", "N", "0",
           "use only the first N training samples; 0: all (synthetic: 10000)"},
    Option{"What to train", "test-samples", "N", "0", "use only the first N test samples; 0: all (synthetic: 2000)"},

    Option{"How long", "epochs", "N", "1", "passes over the training set"},
    Option{"How long", "steps", "N", "0", "global batches instead of --epochs; 0: --epochs counts"},
    Option{"How long", "batch", "N", "0",
           "global batch; 0: the network's own (trireme list models), less for small data"},
    Option{"How long", "last-batch", "keep|drop", "keep", "what to do with an epoch's last, shorter batch"},
    Option{"How long", "early-stopping", "EPOCHS", "0",
           "stop after this many epochs without a better validation result; 0: never"},

    Option{"Learning", "optimizer", "SPEC", "sgd:lr=0.05,momentum=0.9", "rule and options (trireme list optimizers)"},
    Option{"Learning", "schedule", "SPEC", "cosine",
           "cosine:min=0, constant, step:80=0.01,130=0.001, onecycle:peak=0.1; each takes warmup=EPOCHS"},
    Option{"Learning", "clip", "NORM", "0", "bound of the gradient's norm; 0: none"},
    Option{"Learning", "init", "STYLE", "auto",
           "initial weights: pytorch, keras or he; auto: what the network's file says, else pytorch"},
    Option{"Learning", "init-from", "RUN|FILE", "",
           "start from another run's best weights, or a .safetensors or .npz file; layers that differ keep their fresh "
           "values"},
    Option{"Learning", "freeze", "LAYERS", "",
           "layers that keep their weights, as conv1,stage1.* or all-but:fc; with --init-from for transfer"},
    Option{"Learning", "class-weights", "WEIGHTS", "none",
           "factors of the training loss by class: balanced, or NAME=2,OTHER=0.5; none: all 1"},
    Option{"Learning", "seed", "N", "1", "the seed of everything random"},

    Option{"How it runs", "strategy", "SPEC", "auto",
           "how workers synchronise (trireme list strategies); auto: single, allreduce for several workers"},
    Option{"How it runs", "workers", "N", "1", "number of worker processes; on this host unless --hosts says where"},
    Option{"How it runs", "servers", "K", "0",
           "parameter servers, for strategies that have some; 0: one where the strategy needs it"},
    Option{"How it runs", "server-place", "own|worker", "own",
           "servers are processes of their own, or live in the first workers' processes"},
    Option{"How it runs", "assign", "HOW", "measured",
           "how many oars each worker computes: measured (by speed, and again when it changes), even, or 4,2,2; never "
           "changes a bit, except 4,2,2 with local"},
    Option{"How it runs", "evaluate", "spread|first", "spread",
           "evaluation on all workers, or on the first alone; never changes the result"},
    Option{"How it runs", "oars", "V", "0",
           "micro-batches of a global batch; part of the experiment like the seed; 0: from network and batch"},
    Option{"How it runs", "threads", "N", "0",
           "threads of a worker; never changes a bit; 0: the host's cores shared out, at most one per oar"},
    Option{"How it runs", "threads-per-oar", "K", "1", "threads inside each oar; bits then depend on K"},
    Option{"How it runs", "reduce", "exact|fast", "exact", "add gradients along the oar tree, or in any order"},
    Option{"How it runs", "pin", "auto|yes|no", "auto", "pin threads to cores; auto: when the run uses all of them"},
    Option{"How it runs", "isa", "NAME", "auto", "instruction set: auto, avx512, avx2 or generic"},
    Option{"How it runs", "kernel-table", "FILE", "",
           "which algorithm layers get, as written by trireme bench step --tune; part of the experiment"},
    Option{"How it runs", "evaluation-batch", "N", "64", "samples per evaluation task; fixed, so that results are too"},

    Option{"Several machines", "hosts", "LIST", "",
           "hosts to start workers on by ssh, as a,b,c or a:3,b:1 (workers on each); none: this one"},
    Option{"Several machines", "server-hosts", "LIST", "", "hosts for the servers; none: the workers' hosts in turn"},
    Option{"Several machines", "ssh", "COMMAND", "ssh", "how to reach hosts, with options: 'ssh -p 2222'"},
    Option{"Several machines", "port", "N", "0", "the port at which processes meet; 0: an unused one"},
    Option{"Several machines", "transport", "NAME", "auto",
           "what carries messages between processes (trireme list transports)"},
    Option{"Several machines", "tls", "", "no", "encrypt connections between hosts"},
    Option{"Several machines", "heartbeat-timeout", "SECONDS", "10",
           "a process that has been silent for so long counts as lost; more survives longer cuts of the network"},
    Option{"Several machines", "stall-timeout", "SECONDS", "600",
           "a run ends when a process lives but others wait for it so long without receiving anything"},
    Option{
        "Several machines", "slow", "SPEC", "",
        "simulate a slow machine: worker=2,factor=3 sleeps in proportion to its work; rotate=3 makes the next worker "
        "slow every 3 steps"},

    Option{"What stays", "run", "DIR", "", "run folder, must be new; default runs/<model>-<data>-<number>"},
    Option{"What stays", "resume", "DIR", "", "go on with the run in DIR from its last checkpoint, bit for bit"},
    Option{"What stays", "allow-other-bits", "", "no", "resume even where kernels give other results than before"},
    Option{"What stays", "checkpoint-every", "INTERVAL", "0",
           "also checkpoint every 500 (steps), 30s, 10min or 1h; 2epochs: after every second epoch and the best ones; "
           "0: after each epoch"},
    Option{"What stays", "keep", "K", "2", "checkpoints kept beside the best"},
    Option{"What stays", "profile", "", "no", "time by kind of op and by layer, in the summary and as profile.json"},
    Option{"What stays", "tensorboard", "", "no",
           "event files for TensorBoard in the run folder: curves, histograms, pictures and hyperparameters"},
    Option{"What stays", "watch-layers", "N", "0",
           "every N steps norms and histograms of each layer's weights, gradients and updates; 0: never"},
    Option{"What stays", "hash-every", "N", "0",
           "every N steps a hash of the weights, by which 'trireme diff' finds the first step that differs; 0: never"},
    Option{"What stays", "trace", "sampled|all|none", "sampled",
           "which steps trace.json keeps; sampled: the first 100, every 1000th and the last 10 s, at most 200 MB"},
    Option{"What stays", "config", "FILE", "",
           "read options from a TOML file or another run's run.json; the command line wins"},
    Option{"What stays", "json", "", "no", "print the summary as one JSON object on the last line of standard output"},
    Option{"What stays", "quiet", "", "no", "no progress, table or summary"},

    Option{"Watching", "watch", "", "no",
           "serve a page that shows the run in a browser; the program prints its address"},
    Option{"Watching", "watch-port", "N", "auto", "the page's port; auto: 8743, or the next one that is free; 0: any"},
    Option{"Watching", "watch-address", "A", "127.0.0.1",
           "who can reach the page: 127.0.0.1 is this host alone; 0.0.0.0 the whole network, with a token"},
    Option{"Watching", "watch-token-file", "FILE", "",
           "a file with the token that browsers must give; default: a new one, where one is needed"},
    Option{"Watching", "watch-control", "", "no",
           "let the page pause the run, write a checkpoint and stop it; browsers then need the token"},
};

}  // namespace

std::span<const base::OptionSpec> train_options() { return kOptions; }

}  // namespace trireme::train
