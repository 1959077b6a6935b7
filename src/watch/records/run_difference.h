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

// Of a curve that both runs have: where they are farthest apart.
struct CurveDifference {
  std::string name;                // "test accuracy"
  std::int64_t common_epochs = 0;  // that ended at the same step in both
  std::int64_t epoch = 0;          // where they differ most, from 0
  double a = 0, b = 0;             // there
};

struct RunDifference {
  std::vector<DifferentValue> options;  // of `train`; what only says where things are is left out
  std::vector<DifferentValue> results;
  std::vector<DifferentValue> seconds;  // of each phase
  std::vector<CurveDifference> curves;  // of those that differ
  // Of the steps at which both runs have a hash of the weights (--hash-every): how many, the first whose weights differ
  // (0: none), and the last before it whose weights are equal (0: none).
  std::int64_t common_hashes = 0, first_different_hash = 0, last_equal_hash = 0;
  // Of the checkpoints that both runs still have: how many, and the first step at which the weights differ (0: none).
  std::int64_t common_checkpoints = 0, first_different_checkpoint = 0;
  // The first step whose loss differs in metrics.jsonl; 0: none of those that both have.
  std::int64_t common_steps = 0, first_different_loss = 0;
};

RunDifference difference_of(const RunRecord& a, const RunRecord& b);

// Options that say where a run is and what it shows, not what it computes.
bool is_of_the_place(const std::string& option);
// "different from step 13 on"; what is known of the weights, one sentence for hashes and one for checkpoints.
std::string losses_sentence(const RunDifference& difference);
std::vector<std::string> weights_sentences(const RunDifference& difference);

std::vector<std::string> difference_lines(const RunRecord& a, const RunRecord& b, const RunDifference& difference);
std::string difference_json(const RunRecord& a, const RunRecord& b, const RunDifference& difference);

}  // namespace trireme::watch
