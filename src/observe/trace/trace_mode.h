// TraceMode: which steps the trace keeps, as --trace says.
// Plain values.
#pragma once

#include <array>
#include <string>

#include "base/text/options.h"

namespace trireme::observe {

enum class TraceMode { sampled, all, none };

inline TraceMode parse_trace_mode(const base::Settings& settings) {
  static const std::array<std::string, 3> words{"sampled", "all", "none"};
  const std::string& word = settings.choice("trace", words);
  return word == "all" ? TraceMode::all : word == "none" ? TraceMode::none : TraceMode::sampled;
}

}  // namespace trireme::observe
