// Slowness that is played, for experiments: a worker sleeps before its work as if its machine were slower.
#pragma once

#include <cstdint>
#include <string>

namespace trireme::train {

struct SimulatedSlowdown {
  int worker = -1;          // none
  double factor = 1;        // its work takes so many times as long
  std::int64_t rotate = 0;  // steps after which the next worker is the slow one; 0: never

  // How long to sleep for work that takes so many seconds on a core of its own.
  double seconds(int who, std::int64_t step, int workers, double worked) const {
    if (worker < 0) return 0;
    const std::int64_t turn = rotate > 0 ? (step / rotate + worker) % workers : worker;
    return turn == who ? (factor - 1) * worked : 0;
  }
};

// "worker=2,factor=3,rotate=3"; empty: nobody is slow. Mistakes are user errors.
SimulatedSlowdown parse_slow(const std::string& text, int workers);

}  // namespace trireme::train
