// RunDifference: what two runs have in common and what not: options, results, time, weights.
// Pure functions but for reading run folders; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "watch/records/run_record.h"

namespace trireme::watch {

struct DifferentValue {
  std::string name, a, b;
};

struct RunDifference {
  std::vector<DifferentValue> options;  // of `train`; what only says where things are is left out
  std::vector<DifferentValue> results;
  std::vector<DifferentValue> seconds;  // of each phase
  // Of the checkpoints that both runs still have: how many, and the first step at which the weights differ (0: none).
  std::int64_t common_checkpoints = 0, first_different_checkpoint = 0;
  // The first step whose loss differs in metrics.jsonl; 0: none of those that both have.
  std::int64_t common_steps = 0, first_different_loss = 0;
};

RunDifference difference_of(const RunRecord& a, const RunRecord& b);

std::vector<std::string> difference_lines(const RunRecord& a, const RunRecord& b, const RunDifference& difference);
std::string difference_json(const RunRecord& a, const RunRecord& b, const RunDifference& difference);

}  // namespace trireme::watch
