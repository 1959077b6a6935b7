#include "train/starter/starter.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/text.h"
#include "train/experiment/validation.h"

namespace trireme::train {
namespace {

constexpr std::int64_t kStepsPerEpoch = 12;  // at least, so that a small set gets a small batch
constexpr std::int64_t kLeastBatch = 16, kMostBatch = 128;
constexpr std::int64_t kSmallImage = 40, kPhotoSize = 64;
constexpr std::int64_t kManySamples = 5000;

// How long a network of this kind should learn: steps at least, and epochs at least and at most.
struct Length {
  std::int64_t steps, least_epochs, most_epochs;
};
Length length_of(SampleKind kind) { return kind == SampleKind::row ? Length{3000, 20, 500} : Length{1500, 15, 300}; }

std::int64_t ceil_of(std::int64_t number, std::int64_t part) { return (number + part - 1) / part; }

// Text as TOML writes it between quotes; JSON escapes are a subset of TOML's.
std::string quoted_text(const std::string& text) { return nlohmann::json(text).dump(); }

std::string what_is_predicted(const data::DataSpec& spec) {
  if (spec.target == data::TargetKind::classes) return fmt::format("{} classes", spec.classes);
  if (spec.target == data::TargetKind::labels) return fmt::format("{} labels", spec.classes);
  return base::counted(spec.classes, "value");
}

class ConfigText {
 public:
  void heading(const std::string& text) { text_ += fmt::format("\n# {}\n", text); }
  void comment(const std::string& text) { text_ += fmt::format("# {}\n", text); }
  void add(const char* key, const std::string& value) { text_ += fmt::format("{} = {}\n", key, quoted_text(value)); }
  void add(const char* key, std::int64_t value) { text_ += fmt::format("{} = {}\n", key, value); }
  void add_yes(const char* flag) { text_ += fmt::format("{} = true\n", flag); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_data(ConfigText& text, const StarterNames& names) {
  text.heading("The data. Paths are absolute, so that the file works from any folder.");
  text.add("data", names.data);
  if (!names.data_dir.empty()) text.add("data-dir", names.data_dir);
  if (names.target != "classes") text.add("target", names.target);
  if (names.skip_bad) text.add_yes("skip-bad");
  for (const auto& [option, value] : names.table) text.add(option.c_str(), value);
}

void add_network(ConfigText& text, const StarterPlan& plan, const DataSurvey& survey, const StarterNames& names) {
  text.heading("The network.");
  switch (survey.kind) {
    case SampleKind::image:
      text.comment(plan.model.empty()
                       ? "A small residual network, in the file beside this one: change it there. 'trireme model show'"
                       : "A small residual network of the zoo. 'trireme list models' shows the others, 'trireme model");
      text.comment(plan.model.empty() ? "with that file prints its layers."
                                      : "export' writes this one to a file that you can change.");
      break;
    case SampleKind::series:
      text.comment("A residual network of 1-D convolutions: neighbouring values belong together. Are they columns");
      text.comment("without an order instead? Then: model = \"mlp:hidden=128x64\"");
      break;
    case SampleKind::row:
      text.comment(
          "Dense layers over the columns. Wider layers learn finer rules and need more samples; dropout is the");
      text.comment("share of a layer's values that training drops, against learning small sets by heart. Is a row a");
      text.comment("spectrum or a series? Then: model = \"resnet1d\"");
      break;
  }
  text.add("model", names.model);
  if (plan.image_size > 0) {
    text.comment(fmt::format("Images become {0}x{0}. Larger ones show finer detail; the time grows with the area.",
                             plan.image_size));
    text.add("image-size", plan.image_size);
  }
  if (survey.kind != SampleKind::image) return;
  text.comment(
      "What changes from epoch to epoch makes a set go further: images are shifted by up to so many pixels, and in");
  text.comment(
      "small sets turned by up to 10 degrees and made brighter or darker. Add flip only if a mirror image is still");
  text.comment(
      "of its class (animals: yes; letters, arrows: no). 'trireme list augmentations' shows others, 'trireme data");
  text.comment("show' draws what training sees.");
  text.add("augment", plan.augment);
}

void add_length(ConfigText& text, const StarterPlan& plan, const DataSurvey& survey) {
  text.heading("How long.");
  text.comment("Samples per step: small sets get small batches, so that an epoch has enough steps.");
  text.add("batch", plan.batch);
  text.comment("Parts of a batch that threads and workers compute. Part of the experiment, as the seed is: the number");
  text.comment("of threads and workers never changes the result, the number of oars does. With more cores, try more.");
  text.add("oars", plan.oars);
  text.comment(
      fmt::format("{} steps in all. If the validation result still rises at the end, give it more.", plan.steps));
  text.add("epochs", plan.epochs);
  if (plan.validation == "none") {
    text.comment(
        fmt::format("{} training samples are too few to keep some apart: the last weights count.", survey.train));
  } else {
    text.comment(fmt::format("A tenth of the training set{} is kept apart. The best weights are chosen on it, so the",
                             survey.spec.target == data::TargetKind::classes ? ", of every class," : ""));
    text.comment("test set stays unseen until the end.");
  }
  text.add("validation", plan.validation);
}

void add_learning(ConfigText& text, const StarterPlan& plan, const DataSurvey& survey, std::uint64_t seed) {
  text.heading("Learning.");
  if (plan.optimizer.starts_with("sgd")) {
    text.comment("With many samples, SGD with momentum usually ends best. Loss not a number: divide lr by 3.");
  } else {
    text.comment("Adam forgives a rate that does not fit. Slow: lr times 3; loss jumps: lr divided by 3.");
  }
  if (survey.spec.target == data::TargetKind::values)
    text.comment(fmt::format(
        "Values (mean {:.4g}, deviation {:.4g}) are learnt with mean 0 and deviation 1, so no rate depends on their\n"
        "# unit. Predictions, MAE and RMSE are in the data's own units.",
        survey.target_mean, survey.target_deviation));
  text.add("optimizer", plan.optimizer);
  text.comment(plan.schedule == "onecycle"
                   ? "The rate rises for the first third of the run, then falls to almost nothing."
                   : "The rate falls to nothing along half a cosine.");
  text.add("schedule", plan.schedule);
  text.comment("Everything random follows from the seed: the same file gives the same weights, bit for bit.");
  text.add("seed", static_cast<std::int64_t>(seed));
}

}  // namespace

StarterPlan plan_start(const DataSurvey& survey) {
  StarterPlan plan;
  const bool keeps_some = survey.train >= kLeastToShare;
  plan.validation = keeps_some ? "10%" : "none";
  const std::int64_t samples = survey.train - (keeps_some ? survey.train / 10 : 0);
  const auto wanted = static_cast<std::uint64_t>(std::max<std::int64_t>(samples / kStepsPerEpoch, 1));
  plan.batch =
      std::min(std::clamp(static_cast<std::int64_t>(std::bit_floor(wanted)), kLeastBatch, kMostBatch), samples);
  plan.oars = static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(plan.batch / 8, 1, 16))));
  const Length length = length_of(survey.kind);
  const std::int64_t steps = ceil_of(samples, plan.batch);
  plan.epochs = std::clamp(ceil_of(length.steps, steps), length.least_epochs, length.most_epochs);
  plan.steps = plan.epochs * steps;

  const bool is_large = plan.batch == kMostBatch;
  plan.optimizer = survey.kind == SampleKind::row ? "adam:lr=0.002"
                   : is_large                     ? "sgd:lr=0.1,momentum=0.9,weight-decay=5e-4"
                                                  : "adamw:lr=0.002";
  plan.schedule = survey.kind == SampleKind::row ? "cosine" : "onecycle";
  if (survey.kind == SampleKind::series) plan.model = "resnet1d";
  if (survey.kind == SampleKind::row)
    plan.model = samples < kManySamples ? "mlp:hidden=128x64,dropout=0.1" : "mlp:hidden=128x64";
  if (survey.kind != SampleKind::image) return plan;

  const tensor::Shape& shape = survey.spec.inputs[0];
  const bool has_files = survey.median.shorter > 0;
  const std::int64_t shorter = has_files ? survey.median.shorter : std::min(shape[1], shape[2]);
  if (shorter <= kSmallImage) {
    plan.model = "resnet20-cifar";
    if (has_files) plan.image_size = 32;
  } else {
    plan.image_size = kPhotoSize;
    plan.width = samples < kManySamples ? 16 : 32;
  }
  const std::int64_t side = plan.image_size > 0 ? plan.image_size : shorter;
  plan.augment = fmt::format("crop={}", std::max<std::int64_t>(side / 8, 1));
  if (samples < kManySamples) plan.augment += ",rotate=10,brightness";
  return plan;
}

std::string starter_network(const StarterPlan& plan, const DataSurvey& survey) {
  const std::int64_t colours = survey.spec.inputs[0][0];
  std::string text = fmt::format(
      "# A small residual network for images of {0}x{0}, written by 'trireme init'. Try: more blocks (repeat), other\n"
      "# widths (channels), dropout before the last layer. 'trireme model show' with this file prints its layers.\n"
      "inputs = [{{name = \"image\", shape = [{1}, {0}, {0}]}}]\n"
      "layers = [\n"
      "  # Halves the image at once: the first layer would be the most expensive one.\n"
      "  {{name = \"stem\", op = \"conv\", channels = {2}, kernel = 3, stride = 2, padding = 1, bias = false}},\n"
      "  \"batch_norm\",\n"
      "  \"relu\",\n",
      plan.image_size, colours, plan.width);
  for (int stage = 1; stage <= 3; ++stage) {
    const std::int64_t channels = plan.width << (stage - 1);
    if (stage > 1)
      text += fmt::format(
          "  # Half the size, twice the channels; the side branch brings the block's input to the same shape.\n"
          "  {{name = \"down{0}\", layers = [\n"
          "    {{op = \"conv\", channels = {1}, kernel = 3, stride = 2, padding = 1, bias = false}},\n"
          "    \"batch_norm\",\n"
          "    \"relu\",\n"
          "    {{op = \"conv\", channels = {1}, kernel = 3, padding = 1, bias = false}},\n"
          "    {{name = \"norm\", op = \"batch_norm\"}},\n"
          "    {{op = \"conv\", inputs = \"block-input\", channels = {1}, kernel = 1, stride = 2, bias = false}},\n"
          "    {{name = \"side\", op = \"batch_norm\"}},\n"
          "    {{op = \"add\", inputs = [\"norm\", \"side\"]}},\n"
          "    \"relu\",\n"
          "  ]}},\n",
          stage, channels);
    text += fmt::format(
        "  {{name = \"stage{0}\", repeat = {2}, layers = [\n"
        "    {{op = \"conv\", channels = {1}, kernel = 3, padding = 1, bias = false}},\n"
        "    \"batch_norm\",\n"
        "    \"relu\",\n"
        "    {{op = \"conv\", channels = {1}, kernel = 3, padding = 1, bias = false}},\n"
        "    {{name = \"norm\", op = \"batch_norm\"}},\n"
        "    {{op = \"add\", inputs = [\"norm\", \"block-input\"]}},\n"
        "    \"relu\",\n"
        "  ]}},\n",
        stage, channels, stage == 1 ? 2 : 1);
  }
  return text +
         "  # The mean over all places, so that it does not matter where in the image something is.\n"
         "  {op = \"average_pool\", kernel = \"all\"},\n"
         "  \"flatten\",\n"
         "  {op = \"dense\", outputs = \"classes\"},\n"
         "]\n";
}

std::string starter_config(const StarterPlan& plan, const DataSurvey& survey, const StarterNames& names) {
  ConfigText text;
  text.comment(fmt::format("A first experiment by 'trireme init': {} training and {}, {}.", survey.train,
                           base::counted(survey.test, "test sample"), what_is_predicted(survey.spec)));
  text.comment(fmt::format("Train it:  trireme train --config {}", names.config));
  text.comment("Keys are the options of 'trireme train --help'; what is given on the command line wins.");
  add_data(text, names);
  add_network(text, plan, survey, names);
  add_length(text, plan, survey);
  add_learning(text, plan, survey, names.seed);
  return text.take();
}

}  // namespace trireme::train
