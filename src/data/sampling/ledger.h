// Ledger: records which samples an epoch used and proves that each was used once: within a run, across a resume, or by
// several workers whose ledgers are added. It records what the steps received, not what the sampler planned.
// One thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data {

struct LedgerReport {
  std::int64_t samples = 0;   // in the set
  std::int64_t used = 0;      // positions used, repetitions included
  std::int64_t once = 0;      // samples used exactly once
  std::int64_t repeated = 0;  // samples used more than once
  std::int64_t missed() const { return samples - once - repeated; }
  // A hash over all (position, sample) pairs: equal for equal orders, whichever workers used the samples.
  std::string order;
};

class Ledger {
 public:
  explicit Ledger(std::int64_t samples);

  // Records the samples at positions first, first + 1, ... of the epoch.
  void use(std::int64_t first, std::span<const std::int64_t> indices);
  // Adds another worker's ledger of the same epoch.
  void add(const Ledger& other);
  LedgerReport report() const;
  void clear();

  // As text for checkpoints. restore() from the text of a set of another size is a user error.
  std::string text() const;
  void restore(std::string_view text);

 private:
  std::vector<std::uint64_t> once_, again_;  // one bit per sample: used; used more than once
  std::int64_t samples_, used_ = 0;
  std::uint64_t order_ = 0;
};

}  // namespace trireme::data
