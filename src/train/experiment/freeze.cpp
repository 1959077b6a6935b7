#include "train/experiment/freeze.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

namespace trireme::train {
namespace {

constexpr std::string_view kAllBut = "all-but:";
constexpr std::size_t kListedLayers = 12;

// Whether the pattern, in which * stands for any text, is the whole name.
bool fits_name(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, matched = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      matched = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;  // the last * takes one character more
      n = ++matched;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

// Whether the pattern is the name of the parameter or of something that it belongs to.
bool names_parameter(std::string_view pattern, std::string_view parameter) {
  for (std::size_t end = parameter.find('.'); end != std::string_view::npos; end = parameter.find('.', end + 1))
    if (fits_name(pattern, parameter.substr(0, end))) return true;
  return fits_name(pattern, parameter);
}

[[noreturn]] void refuse_pattern(const std::string& option, const std::string& pattern, const graph::Network& network) {
  std::vector<std::string> layers, names;  // names: of all that a pattern may mean
  for (const graph::ParameterInfo& parameter : network.parameters()) {
    const std::string layer = parameter.name.substr(0, parameter.name.rfind('.'));
    if (parameter.spec.is_statistic() || std::ranges::find(layers, layer) != layers.end()) continue;
    layers.push_back(layer);
    for (std::size_t end = 0; end != std::string::npos;)
      names.push_back(layer.substr(0, end = layer.find('.', end + 1)));
  }
  const std::string near = base::nearest_name(pattern, names);
  const std::string hint = near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
  const std::size_t count = layers.size();
  if (count > kListedLayers) layers.resize(kListedLayers);
  base::user_error("{}: '{}' matches no layer with weights{} The layers of {} are {}{}", option, pattern,
                   hint.empty() ? "." : hint, network.name(), base::join(layers, ", "),
                   count > kListedLayers ? fmt::format(", ... ({} in all)", count) : "");
}

}  // namespace

std::string freeze_layers(const std::string& option, const std::string& text, graph::Network& network) {
  if (text.empty()) return {};
  const bool all_but = text.starts_with(kAllBut);
  const std::vector<std::string> patterns = base::split(all_but ? text.substr(kAllBut.size()) : text, ',');
  std::vector<bool> is_used(patterns.size());
  std::int64_t frozen = 0, floats = 0, trained = 0;
  for (std::size_t p = 0; p < network.parameters().size(); ++p) {
    const graph::ParameterInfo& parameter = network.parameters()[p];
    if (parameter.spec.is_statistic()) continue;
    bool is_named = false;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (!names_parameter(patterns[i], parameter.name)) continue;
      is_used[i] = is_named = true;
    }
    ++trained;
    if (is_named == all_but) continue;
    ++frozen;
    floats += parameter.spec.shape.count();
    network.freeze(static_cast<int>(p));
  }
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (!is_used[i]) refuse_pattern(option, patterns[i], network);
  if (frozen == trained)
    base::user_error("{} {} leaves nothing of {} to train; name fewer layers", option, text, network.name());
  return fmt::format("{} of {} weights and biases are frozen, {} of {} parameters", frozen, trained, floats,
                     network.parameter_count());
}

}  // namespace trireme::train
