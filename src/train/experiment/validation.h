// ValidationPlan: which samples of the training set a run keeps apart, and on what it chooses its best weights.
// A plain value; the functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/text/options.h"
#include "data/dataset/dataset.h"

namespace trireme::train {

// The set whose result decides which checkpoint is the best. `nothing`: no best is chosen, the last weights count.
enum class BestOn { nothing, validation, test };

struct ValidationPlan {
  BestOn best_on = BestOn::nothing;
  double share = 0;           // of the training set
  bool is_by_class = true;    // the same share of every class, where the targets are classes
  std::string text = "none";  // as run.json records it and --validation takes it again; never "auto"
  std::vector<std::string> notes{};
};

// With fewer training samples a tenth says too little about the weights to choose by it, so auto leaves them whole.
inline constexpr std::int64_t kLeastToShare = 50;

// Reads --validation and --early-stopping. `has_name`: the data is a dataset of the list, packed or not.
ValidationPlan plan_validation(const base::Settings& settings, bool has_name, std::int64_t train_samples);

// Splits the training set as planned: `train` without the validation set, which is `test`. Adds to the plan's notes.
data::DataPair keep_validation(ValidationPlan& plan, const data::DatasetPtr& train, std::uint64_t seed);

// A run.json's --validation as this version records it: older ones recorded no way, and drew from all classes at once.
std::string recorded_validation(const std::string& text);

// True if both mean the same on resume: auto agrees with whatever it became.
bool same_validation(const std::string& recorded, const std::string& given);

}  // namespace trireme::train
