// The rules of the Chrome trace format ("Trace Event Format", by the Chromium authors), for tests: the keys that each
// kind of event must have, their types, and that arrows have two ends.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

namespace trireme::test {

// Arrows that begin but do not end in the trace (their end was not recorded) are allowed, and the other way round:
// viewers ignore them. `late_us`: by how much an arrow may end before it begins. Returns the number of whole arrows.
inline int expect_chrome_trace(const nlohmann::json& trace, double late_us = 1e-3) {
  using Value = nlohmann::json;
  EXPECT_TRUE(trace.is_object());
  if (!trace.is_object() || !trace.contains("traceEvents") || !trace["traceEvents"].is_array()) {
    ADD_FAILURE() << "no array of events";
    return 0;
  }
  const std::string unit = trace.value("displayTimeUnit", "ms");
  EXPECT_TRUE(unit == "ms" || unit == "ns") << unit;
  const auto is_text = [](const Value& event, const char* key) {
    return event.contains(key) && event[key].is_string();
  };
  const auto is_number = [](const Value& event, const char* key) {
    return event.contains(key) && event[key].is_number();
  };
  std::map<std::string, double> begins, ends;             // of arrows, by category, name and number; the last ones
  std::set<std::pair<std::int64_t, std::int64_t>> lanes;  // with spans
  std::set<std::int64_t> named;                           // processes
  int failures = 0, arrows = 0;
  for (const Value& event : trace["traceEvents"]) {
    const std::string kind = event.value("ph", "");
    bool is_right = event.is_object() && is_text(event, "name") && event.contains("pid") &&
                    event["pid"].is_number_integer() && event.contains("tid") && event["tid"].is_number_integer();
    if (event.contains("args")) is_right = is_right && event["args"].is_object();
    if (kind == "X") {
      is_right = is_right && is_text(event, "cat") && is_number(event, "ts") && is_number(event, "dur") &&
                 event["dur"].get<double>() >= 0 && event["ts"].get<double>() >= 0;
      lanes.emplace(event["pid"], event["tid"]);
    } else if (kind == "i") {
      is_right = is_right && is_number(event, "ts") && is_text(event, "s") &&
                 (event["s"] == "g" || event["s"] == "p" || event["s"] == "t");
    } else if (kind == "s" || kind == "f") {
      is_right = is_right && is_number(event, "ts") && is_text(event, "cat") && event.contains("id") &&
                 (kind == "s" || !event.contains("bp") || event["bp"] == "e");
      const std::string number = event.value("cat", "") + event.value("name", "") + event.value("id", "");
      (kind == "s" ? begins : ends)[number] = event.value("ts", 0.0);
    } else if (kind == "M") {
      is_right = is_right && (event["name"] == "process_name" || event["name"] == "thread_name") &&
                 event.contains("args") && is_text(event["args"], "name");
      if (event.value("name", "") == "process_name") named.insert(event.value("pid", -1));
    } else {
      is_right = false;
    }
    if (!is_right && ++failures <= 5) ADD_FAILURE() << "not by the rules: " << event.dump();
  }
  for (const auto& [process, lane] : lanes)
    EXPECT_TRUE(named.contains(process)) << "process " << process << " has no name";
  for (const auto& [number, begin_us] : begins) {
    const auto end = ends.find(number);
    if (end == ends.end()) continue;
    ++arrows;
    EXPECT_GE(end->second, begin_us - late_us) << "a message was received before it was sent: " << number;
  }
  return arrows;
}

}  // namespace trireme::test
