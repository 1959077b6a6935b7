#include "cli/saved_data.h"

#include <fmt/core.h>

#include <filesystem>
#include <iostream>
#include <utility>

#include "base/error.h"
#include "data/dataset/table_schema.h"
#include "data/open_data.h"
#include "data/readers/images/loose_images.h"
#include "data/stages/class_mapping.h"
#include "data/stages/resize.h"

namespace trireme::cli {
namespace {

std::vector<std::filesystem::path> files_on_input() {
  std::vector<std::filesystem::path> files;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) files.emplace_back(line);
  }
  if (files.empty())
    base::user_error("--data {} reads names of image files from standard input, one per line, but there are none",
                     kListOnInput);
  return files;
}

// True if images of these shapes can be resized to the wanted ones: the same colours, one size for all.
bool differ_in_size_only(const std::vector<tensor::Shape>& has, const std::vector<tensor::Shape>& wanted) {
  if (has.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < has.size(); ++i)
    if (has[i].rank() != 3 || wanted[i].rank() != 3 || has[i][0] != wanted[i][0] || wanted[i][1] != wanted[0][1] ||
        wanted[i][2] != wanted[0][2])
      return false;
  return true;
}

data::DatasetPtr fit_to_run(data::DatasetPtr set, const data::DataSpec& run, const std::string& name,
                            std::vector<std::string>& notes) {
  const data::DataSpec& has = set->spec();
  const bool can_resize = differ_in_size_only(has.inputs, run.inputs);
  if (has.target != run.target || (has.inputs != run.inputs && !can_resize) ||
      (run.target == data::TargetKind::values && has.classes != run.classes))
    base::user_error("'{}' holds samples of {}, but the run was trained with {}", name, data::spec_text(has),
                     data::spec_text(run));
  if (has.schema && run.schema && !data::make_same_inputs(*has.schema, *run.schema))
    base::user_error("'{}' was packed with other columns or words than the run was trained with; give the table itself",
                     name);
  if (has.inputs != run.inputs) {
    notes.push_back(fmt::format("images of {} were resized to {}", has.inputs[0].text(), run.inputs[0].text()));
    set = data::resize(std::move(set), run.inputs[0][1], run.inputs[0][2]);
  }
  return run.target == data::TargetKind::values ? set : data::map_classes(std::move(set), run, name);
}

// The data as it is, with or without targets.
data::DataPair open_named(const data::Readers& readers, const DataWish& wish, data::DataRequest request,
                          FoundData& found) {
  if (request.name == kListOnInput) {
    found.has_targets = false;
    request.name = "the list on standard input";
    request.codecs = readers.codecs;
    return data::open_loose_images(files_on_input(), request);
  }
  if (wish.is_own) return data::open_dataset(readers, std::move(request));
  if (auto unlabelled = data::open_unlabelled(readers, request)) {
    found.has_targets = false;
    return std::move(*unlabelled);
  }
  return data::open_dataset(readers, std::move(request));
}

}  // namespace

train::SavedData saved_data(const data::Readers& readers, train::RunSamples samples, const DataWish& wish,
                            FoundData& found) {
  const auto open = [&readers, &found, wish, run = samples.spec](data::DataRequest request) {
    request.schema = run.schema;
    if (!wish.is_own) {
      request.wanted_inputs = run.inputs;
      request.wanted_classes = run.classes;
      request.wanted_target = run.target;
      request.whole = wish.whole;
    }
    data::DataPair pair = open_named(readers, wish, request, found);
    if (!found.has_targets && !wish.may_lack_targets)
      base::user_error("'{}' has no labels or values to compare with; trireme predict needs none", request.name);
    found.is_whole = pair.train == pair.test;
    found.notes = pair.notes;
    const data::DatasetPtr test = fit_to_run(pair.test, run, request.name, found.notes);
    std::vector<std::string> same_notes;
    return data::DataPair{found.is_whole ? test : fit_to_run(pair.train, run, request.name, same_notes), test, {}};
  };
  return {std::move(samples), open};
}

}  // namespace trireme::cli
