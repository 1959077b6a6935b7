#include "train/experiment/target_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "data/stages/target_scale.h"

namespace trireme::train {
namespace {

constexpr std::array<std::string_view, 3> kBounded{"relu", "tanh", "sigmoid"};

// Why a network cannot learn values of mean 0 and deviation 1; empty: it can.
std::string why_not_standard(const graph::Network& network, std::int64_t values) {
  const graph::Node& last = network.nodes()[static_cast<std::size_t>(network.prediction())];
  if (last.op && std::ranges::find(kBounded, last.op->kind()) != kBounded.end())
    return fmt::format("{} ends in {}, which cannot give every number", network.name(), last.op->kind());
  if (last.shape.count() != values)
    return fmt::format("{} predicts {} numbers for targets of {}", network.name(), last.shape.count(), values);
  return {};
}

}  // namespace

data::TargetScale choose_target_scale(const base::Settings& settings, bool has_name, const data::Dataset& train,
                                      const graph::Network& network, std::vector<std::string>& notes) {
  const std::array<std::string, 3> words{"auto", "standard", "none"};
  const std::string& wanted = settings.choice("target-scale", words);
  const data::DataSpec& spec = train.spec();
  const bool has_values = spec.target == data::TargetKind::values;
  if (wanted == "standard" && !has_values)
    base::user_error("{} standard is for targets of values, but '{}' has {}; use none", settings.label("target-scale"),
                     settings.text("data"), data::target_name(spec.target));
  if (wanted == "none" || !has_values || (wanted == "auto" && has_name)) return {};
  const std::string why_not = why_not_standard(network, spec.classes);
  if (wanted == "standard" && !why_not.empty())
    base::user_error("{} standard needs a network that can predict values of mean 0 and deviation 1, but {}; use none",
                     settings.label("target-scale"), why_not);
  const std::string_view loss = network.nodes()[static_cast<std::size_t>(network.loss())].op->kind();
  if (wanted == "auto" && (!why_not.empty() || loss != "squared_error")) {
    notes.push_back(fmt::format("the values are learnt as they are, because {} (--target-scale)",
                                why_not.empty() ? fmt::format("the loss is {}", loss) : why_not));
    return {};
  }
  notes.emplace_back(
      "the values are standardised for training (--target-scale): losses are of values with mean 0 and deviation 1, "
      "predictions and errors are in the data's own units");
  return data::compute_target_scale(train);
}

const char* target_scale_name(const data::TargetScale& scale) { return scale.is_none() ? "none" : "standard"; }

}  // namespace trireme::train
