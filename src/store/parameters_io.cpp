#include "store/parameters_io.h"

#include <fmt/core.h>

#include <map>

#include "base/error.h"

namespace trireme::store {
namespace {

using tensor::ParameterKind;
using tensor::ParameterRange;
using tensor::ParameterSpace;

bool wanted(const ParameterRange& range, Parameters which) {
  return which == Parameters::all || range.kind == ParameterKind::trained;
}

void check_buffer(const ParameterSpace& space, std::size_t floats, Parameters which) {
  const std::int64_t needed = which == Parameters::all ? space.floats() : space.trained_floats();
  base::check(static_cast<std::int64_t>(floats) >= needed, "a buffer of {} floats, the parameters need {}", floats,
              needed);
}

// The file's tensors whose names start with the prefix, by name without the prefix.
std::map<std::string, const NamedTensor*> by_name(const SafetensorsFile& file, const std::string& prefix) {
  std::map<std::string, const NamedTensor*> tensors;
  for (const NamedTensor& tensor : file.tensors)
    if (tensor.name.starts_with(prefix)) tensors[tensor.name.substr(prefix.size())] = &tensor;
  return tensors;
}

void copy_in(const ParameterRange& range, const NamedTensor& tensor, std::span<float> buffer) {
  tensor::from_plain(range.layout, tensor.values.data(), buffer.data() + range.offset);
}

}  // namespace

std::vector<NamedTensor> export_parameters(const ParameterSpace& space, std::span<const float> buffer,
                                           const std::string& prefix, Parameters which) {
  check_buffer(space, buffer.size(), which);
  std::vector<NamedTensor> tensors;
  for (const ParameterRange& range : space.ranges()) {
    if (!wanted(range, which)) continue;
    NamedTensor tensor{prefix + range.name, range.shape, std::vector<float>(static_cast<std::size_t>(range.count()))};
    tensor::to_plain(range.layout, buffer.data() + range.offset, tensor.values.data());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void import_parameters(const ParameterSpace& space, std::span<float> buffer, const SafetensorsFile& file,
                       const std::string& prefix, Parameters which) {
  check_buffer(space, buffer.size(), which);
  auto tensors = by_name(file, prefix);
  std::vector<std::pair<const ParameterRange*, const NamedTensor*>> matches;
  std::vector<std::string> wrong;
  for (const ParameterRange& range : space.ranges()) {
    if (!wanted(range, which)) continue;
    const auto found = tensors.find(range.name);
    if (found == tensors.end()) {
      wrong.push_back(fmt::format("it has no '{}{}'", prefix, range.name));
      continue;
    }
    if (found->second->shape == range.shape)
      matches.emplace_back(&range, found->second);
    else
      wrong.push_back(fmt::format("its '{}{}' is {}, the network's is {}", prefix, range.name,
                                  found->second->shape.text(), range.shape.text()));
    tensors.erase(found);
  }
  for (const auto& [name, tensor] : tensors)
    wrong.push_back(fmt::format("it has '{}{}', which the network has not", prefix, name));
  if (!wrong.empty())
    base::user_error("this checkpoint is of another network: {}: {} ({} parameter{} in all)", file.path, wrong[0],
                     wrong.size(), wrong.size() == 1 ? " differs" : "s differ");
  for (const auto& [range, tensor] : matches) copy_in(*range, *tensor, buffer);
}

Matching import_matching(const ParameterSpace& space, std::span<float> buffer, const SafetensorsFile& file,
                         const std::string& prefix) {
  check_buffer(space, buffer.size(), Parameters::all);
  auto tensors = by_name(file, prefix);
  Matching matching;
  for (const ParameterRange& range : space.ranges()) {
    const auto found = tensors.find(range.name);
    if (found == tensors.end() || !(found->second->shape == range.shape)) {
      matching.skipped.push_back(range.name);
      continue;
    }
    copy_in(range, *found->second, buffer);
    matching.copied.push_back(range.name);
    tensors.erase(found);
  }
  for (const auto& [name, tensor] : tensors) matching.unused.push_back(name);
  return matching;
}

}  // namespace trireme::store
