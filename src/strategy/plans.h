// Plans: who sends which partials of a step and how they are added, made once for every way to share out a batch. One
// thread at a time; what it returns stays.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "comm/exact.h"

namespace trireme::strategy {

class Plans {
 public:
  // `shares` are the workers' oars, in order.
  const comm::ExactPlan& get(int oars, std::int64_t samples, const std::vector<base::Range>& shares);

 private:
  struct Key {
    std::int64_t samples = 0;
    std::vector<std::int64_t> ends;  // of the shares
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, comm::ExactPlan> plans_;
};

}  // namespace trireme::strategy
