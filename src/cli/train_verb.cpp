#include <fmt/core.h>

#include "cli/cli.h"
#include "cli/config_file.h"
#include "train/options.h"
#include "train/trainer.h"

namespace trireme::cli {
namespace {

void run_train(const base::Settings& given, const std::string&) {
  base::Settings settings = given;
  if (const std::string& config = settings.text("config"); !config.empty()) read_config(settings, config);
  const std::string summary = train::train(settings);
  if (settings.flag("json")) fmt::print("{}\n", summary);
}

}  // namespace

Verb train_verb() {
  return {"train",
          "train a network and keep everything in a run folder",
          "Examples:\n"
          "  trireme train --model lenet5 --data fashion-mnist --epochs 5\n"
          "  trireme train --model resnet20-cifar --data cifar10 --data-dir ~/data --augment crop,flip --epochs 8 \\\n"
          "                --optimizer sgd:lr=0.1,momentum=0.9,weight-decay=1e-4 --schedule onecycle\n"
          "  trireme train --resume runs/lenet5-fashion-mnist-1\n"
          "  trireme train --config experiment.toml --seed 2",
          train::train_options(),
          "",
          run_train};
}

}  // namespace trireme::cli
