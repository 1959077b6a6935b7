// RunStart: a start of a run, as run.json lists them: the first one and every resume.
// Functions are thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/text/options.h"

namespace trireme::train {

struct RunStart {
  struct Change {
    std::string option, from, to;
  };
  std::string date;     // UTC, 2026-01-31T12:00:00Z
  std::string host;     // of the first process
  std::string command;  // as a shell takes it
  std::int64_t step = 0;
  std::vector<Change> changes;  // options that are not as before
};

// A start of this process after `step` steps.
RunStart start_now(std::int64_t step);

// The options of a run that differ, without those of its place and output.
std::vector<RunStart::Change> changes_between(const base::Settings& before, const base::Settings& now);

// True for options that say where a run is and what it prints: they are not taken over from a run.json.
bool is_about_place(const std::string& option);

// The list as JSON text, and back. What cannot be read is an empty list: it must not keep a run from going on.
std::string to_json(const std::vector<RunStart>& starts);
std::vector<RunStart> starts_from_json(const std::string& text);

}  // namespace trireme::train
