// Ledger: a record of which samples an epoch used, that proves that each was used once: in one run, after a resume, or
// by several workers whose ledgers are added. It takes what the steps really got, not what the sampler meant to give.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data {

struct LedgerReport {
  std::int64_t samples = 0;   // of the set
  std::int64_t used = 0;      // positions taken, repetitions included
  std::int64_t once = 0;      // samples used exactly once
  std::int64_t repeated = 0;  // samples used more than once
  std::int64_t missed() const { return samples - once - repeated; }
  // A hash over (position, sample): equal where the order was the same, whoever used the samples.
  std::string order;
};

class Ledger {
 public:
  explicit Ledger(std::int64_t samples);

  // The samples at positions first, first + 1, ... of the epoch.
  void use(std::int64_t first, std::span<const std::int64_t> indices);
  // What another worker used of the same epoch.
  void add(const Ledger& other);
  LedgerReport report() const;
  void clear();

  // As text for checkpoints; restore() of a text of another set is a user error.
  std::string text() const;
  void restore(std::string_view text);

 private:
  std::vector<std::uint64_t> once_, again_;  // a bit per sample: used; used before
  std::int64_t samples_, used_ = 0;
  std::uint64_t order_ = 0;
};

}  // namespace trireme::data
