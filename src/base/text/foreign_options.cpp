#include "base/text/foreign_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text/text.h"

namespace trireme::base {
namespace {

struct ForeignOption {
  const char* names;   // of other programs, in lower case, with dashes
  const char* option;  // ours
  const char* hint;    // empty: the option alone does the same
};

constexpr std::array kForeignOptions{
    ForeignOption{"lr learning-rate", "optimizer",
                  "the learning rate belongs to the optimizer: --optimizer sgd:lr=0.05,momentum=0.9"},
    ForeignOption{"momentum", "optimizer", "momentum belongs to the optimizer: --optimizer sgd:lr=0.05,momentum=0.9"},
    ForeignOption{"weight-decay wd l2", "optimizer",
                  "weight decay belongs to the optimizer: --optimizer sgd:lr=0.05,weight-decay=1e-4"},
    ForeignOption{"beta1 beta2 betas eps", "optimizer",
                  "it belongs to the optimizer: --optimizer adam:lr=1e-3,beta1=0.9,beta2=0.999,eps=1e-8"},
    ForeignOption{"warmup warmup-epochs warmup-steps", "schedule",
                  "a warm-up belongs to the schedule: --schedule cosine:warmup=2"},
    ForeignOption{"min-lr lr-min eta-min", "schedule", "it belongs to the schedule: --schedule cosine:min=1e-4"},
    ForeignOption{"opt optim", "optimizer", ""},
    ForeignOption{"scheduler lr-scheduler lr-schedule", "schedule", ""},
    ForeignOption{"batch-size batchsize bs mini-batch minibatch per-device-batch-size", "batch", ""},
    ForeignOption{"epoch num-epochs n-epochs max-epochs nepochs", "epochs", ""},
    ForeignOption{"max-steps num-steps iterations iters max-iters", "steps", ""},
    ForeignOption{"dataset data-set data-name dataset-name", "data", ""},
    ForeignOption{"data-path data-root dataroot data-folder dataset-dir", "data-dir", ""},
    ForeignOption{"net network arch architecture model-name", "model", ""},
    ForeignOption{"gpu gpus device devices cuda num-gpus no-cuda", "threads",
                  "Trireme computes on CPUs, with --threads N and --workers N"},
    ForeignOption{"amp fp16 bf16 half mixed-precision precision dtype", "threads",
                  "Trireme computes in float32 throughout"},
    ForeignOption{"num-workers data-workers loader-workers dataloader-workers", "workers",
                  "the loader needs no number; --workers N is how many processes train, --threads N how many threads "
                  "each has"},
    ForeignOption{"nproc nprocs nproc-per-node world-size num-processes np n", "workers", ""},
    ForeignOption{"cpus cores num-threads nthreads jobs", "threads", ""},
    ForeignOption{"host hostfile hostlist nodes", "hosts", ""},
    ForeignOption{"output output-dir out out-dir save save-dir save-path log-dir logdir run-dir name", "run", ""},
    ForeignOption{"checkpoint ckpt restore continue from-checkpoint load", "resume", ""},
    ForeignOption{"pretrained weights init-weights finetune", "init-from", ""},
    ForeignOption{"save-every save-freq checkpoint-interval save-interval", "checkpoint-every", ""},
    ForeignOption{"patience", "early-stopping", ""},
    ForeignOption{"clip-norm grad-clip gradient-clip max-grad-norm clip-grad-norm", "clip", ""},
    ForeignOption{"val-split validation-split val val-size val-fraction", "validation", ""},
    ForeignOption{"random-seed manual-seed rng-seed", "seed", ""},
    ForeignOption{"aug augmentation augmentations transforms", "augment", ""},
    ForeignOption{"normalization normalisation", "normalize", ""},
    ForeignOption{"img-size imgsz input-size resize", "image-size", ""},
    ForeignOption{"verbose", "quiet", "progress is shown unless --quiet is given"},
    ForeignOption{"silent no-progress", "quiet", ""},
    ForeignOption{"print-json", "json", ""},
};

std::string canonical(std::string_view typed) {
  std::string name(typed);
  for (char& c : name) c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

}  // namespace

std::string foreign_option_hint(std::string_view typed, const std::function<bool(const std::string&)>& has) {
  const std::string name = canonical(typed);
  if (name != typed && has(name)) return fmt::format("it is written --{}", name);
  for (const ForeignOption& foreign : kForeignOptions) {
    const std::vector<std::string> names = split(foreign.names, ' ');
    if (!has(foreign.option) || std::ranges::find(names, name) == names.end()) continue;
    return foreign.hint[0] == '\0' ? fmt::format("it is called --{} here", foreign.option) : foreign.hint;
  }
  return "";
}

}  // namespace trireme::base
