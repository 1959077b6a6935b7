#include "train/worker/simulated_slowdown.h"

#include "base/error.h"
#include "base/text/text.h"

namespace trireme::train {

SimulatedSlowdown parse_slow(const std::string& text, int workers) {
  if (text.empty()) return {};
  base::Spec spec("--slow", "slow:" + text);
  SimulatedSlowdown slow;
  const std::int64_t worker = spec.integer("worker", 0);
  slow.factor = spec.number("factor", 3);
  slow.rotate = spec.integer("rotate", 0);
  spec.finish();
  if (worker < 0 || worker >= workers) base::user_error("--slow: worker is {}, expected 0 to {}", worker, workers - 1);
  slow.worker = static_cast<int>(worker);
  if (!(slow.factor >= 1)) base::user_error("--slow: factor is {}, expected 1 or more", slow.factor);
  if (slow.rotate < 0) base::user_error("--slow: rotate is {}, expected 0 or more", slow.rotate);
  return slow;
}

}  // namespace trireme::train
