#include "train/experiment/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/text/text.h"
#include "data/stages/subset.h"

namespace trireme::train {
namespace {

constexpr const char* kAutoShare = "10%";
constexpr std::string_view kByClass = ":stratified", kFromAll = ":random";

bool names_way(std::string_view text) { return text.ends_with(kByClass) || text.ends_with(kFromAll); }

}  // namespace

ValidationPlan plan_validation(const base::Settings& settings, bool has_name, std::int64_t train_samples) {
  std::string text = settings.text("validation");
  const bool stops_early = settings.integer("early-stopping", 0, 1 << 20) > 0;
  ValidationPlan plan;
  if (text == "auto") {
    const bool is_small = train_samples < kLeastToShare;
    text = stops_early || (!has_name && !is_small) ? kAutoShare : "none";
    if (text == "none" && !has_name)
      plan.notes.push_back(
          fmt::format("{} are too few to keep some apart: no best weights are chosen, the last ones count "
                      "(--validation 10% keeps some)",
                      base::counted(train_samples, "training sample")));
  }
  if (text == "none") {
    if (stops_early)
      base::user_error(
          "--early-stopping {} needs samples to look at, and the run keeps none apart (validation: none); "
          "begin a new run with --validation 10%",
          settings.text("early-stopping"));
    return plan;
  }
  plan.is_by_class = !text.ends_with(kFromAll);
  const std::string share = names_way(text) ? text.substr(0, text.rfind(':')) : text;
  plan.share = base::parse_fraction(settings.label("validation"), share);
  if (plan.share == 0) {
    plan.best_on = BestOn::test;
    plan.text = "0%";
    plan.notes.emplace_back(
        "with --validation 0% the best weights are chosen on the test set, so its result for them is optimistic");
    return plan;
  }
  plan.best_on = BestOn::validation;
  plan.text = share + std::string(plan.is_by_class ? kByClass : kFromAll);
  return plan;
}

data::DataPair keep_validation(ValidationPlan& plan, const data::DatasetPtr& train, std::uint64_t seed) {
  // A class of one sample keeps it for training.
  const bool has_classes =
      train->spec().target == data::TargetKind::classes &&
      std::ranges::any_of(data::class_counts(*train), [](std::int64_t samples) { return samples > 1; });
  data::DataPair parts = plan.is_by_class && has_classes ? data::split_by_class(train, plan.share, seed)
                                                         : data::split_validation(train, plan.share, seed);
  plan.notes.push_back(fmt::format("{} of {} training samples are kept apart to choose the best weights{}",
                                   parts.test->size(), train->size(),
                                   plan.is_by_class && has_classes ? ", the same share of every class" : ""));
  return parts;
}

std::string recorded_validation(const std::string& text) {
  if (text == "auto" || text == "none" || names_way(text)) return text;
  return base::parse_fraction("validation", text) == 0 ? text : text + std::string(kFromAll);
}

bool same_validation(const std::string& recorded, const std::string& given) {
  return given == "auto" || given == recorded || given + std::string(kByClass) == recorded;
}

}  // namespace trireme::train
