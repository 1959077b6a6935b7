#include "data/stages/class_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "data/stages/scratch.h"

namespace trireme::data {
namespace {

constexpr std::size_t kShownClasses = 5;

class MapClasses : public Dataset {
 public:
  // places[c]: the wanted number of class c.
  MapClasses(DatasetPtr source, const DataSpec& wanted, std::vector<std::size_t> places)
      : source_(std::move(source)), spec_(source_->spec()), places_(std::move(places)) {
    spec_.classes = wanted.classes;
    spec_.class_names = wanted.class_names;
  }
  const DataSpec& spec() const override { return spec_; }
  std::int64_t size() const override { return source_->size(); }
  std::string origin(std::int64_t index) const override { return source_->origin(index); }
  void fetch(std::int64_t index, const AugmentationSeed& random, std::span<float* const> inputs,
             float* target) const override {
    Scratch old(static_cast<std::size_t>(target_floats(source_->spec())));
    source_->fetch(index, random, inputs, old.data());
    renumber(old.data(), target);
  }
  bool view(std::int64_t index, std::span<StoredValues> inputs, float* target) const override {
    Scratch old(static_cast<std::size_t>(target_floats(source_->spec())));
    if (!source_->view(index, inputs, old.data())) return false;
    renumber(old.data(), target);
    return true;
  }

 private:
  void renumber(const float* old, float* target) const {
    if (spec_.target == TargetKind::classes) {
      *target = static_cast<float>(places_[static_cast<std::size_t>(*old)]);
      return;
    }
    for (std::size_t c = 0; c < places_.size(); ++c) target[places_[c]] = old[c];
  }

  DatasetPtr source_;
  DataSpec spec_;
  std::vector<std::size_t> places_;
};

// "'cat', 'dog', ... (12 in all)"
std::string quoted_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kShownClasses); ++i)
    text += fmt::format("{}'{}'", i > 0 ? ", " : "", names[i]);
  return names.size() > kShownClasses ? fmt::format("{}, ... ({} in all)", text, names.size()) : text;
}

std::vector<std::string> names_without(const std::vector<std::string>& names, const std::vector<std::string>& others) {
  std::vector<std::string> left;
  for (const std::string& name : names)
    if (std::ranges::find(others, name) == others.end()) left.push_back(name);
  return left;
}

}  // namespace

DatasetPtr map_classes(DatasetPtr dataset, const DataSpec& wanted, const std::string& name) {
  const DataSpec& has = dataset->spec();
  const bool labels = has.target == TargetKind::labels;
  const char* what = labels ? "labels" : "classes";
  if (has.classes == wanted.classes && has.class_names == wanted.class_names) return dataset;
  std::vector<std::size_t> places(static_cast<std::size_t>(has.classes));
  for (std::size_t c = 0; c < places.size(); ++c) places[c] = c;
  if (has.class_names.empty() || wanted.class_names.empty()) {
    if (has.classes > wanted.classes || (labels && has.classes != wanted.classes))
      base::user_error("'{}' has {} {}, but the run was trained with {}", name, has.classes, what, wanted.classes);
    return std::make_shared<MapClasses>(std::move(dataset), wanted, std::move(places));
  }
  const std::vector<std::string> unknown = names_without(has.class_names, wanted.class_names);
  const std::vector<std::string> missing = names_without(wanted.class_names, has.class_names);
  if (!unknown.empty())
    base::user_error("'{}' has {} that the run was not trained with: {}; the run's are {}", name, what,
                     quoted_names(unknown), quoted_names(wanted.class_names));
  if (labels && !missing.empty())
    base::user_error("'{}' lacks labels that the run was trained with: {}", name, quoted_names(missing));
  for (std::size_t c = 0; c < places.size(); ++c)
    places[c] = static_cast<std::size_t>(std::ranges::find(wanted.class_names, has.class_names[c]) -
                                         wanted.class_names.begin());
  return std::make_shared<MapClasses>(std::move(dataset), wanted, std::move(places));
}

}  // namespace trireme::data
