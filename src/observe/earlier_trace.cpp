#include "observe/earlier_trace.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace trireme::observe {

// Line by line: as a tree of JSON values the file would take many times its size.
EarlierTrace read_earlier_trace(const base::fs::path& path) try {
  using Json = nlohmann::json;
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line) || !line.ends_with("\"traceEvents\":[")) return {};
  EarlierTrace trace;
  while (std::getline(in, line)) {
    if (line.starts_with("]")) {
      trace.left_out = Json::parse("{" + line.substr(line.find('"'))).at("otherData").at("spans_left_out");
      return trace;
    }
    if (line.ends_with(",")) line.pop_back();
    if (line.empty()) continue;
    const Json event = Json::parse(line);
    if (event.at("ph") == "X") {
      trace.end_us = std::max(trace.end_us, event.at("ts").get<double>() + event.at("dur").get<double>());
    } else {
      trace.names.insert(line);
    }
    trace.events += (trace.events.empty() ? "" : ",\n") + line;
  }
  return {};  // it has no end
} catch (const std::exception&) {
  return {};
}

}  // namespace trireme::observe
