// SimulatedSlowdown: simulates a slow machine for experiments: the worker sleeps before its work.
// A plain value.
#pragma once

#include <cstdint>
#include <string>

namespace trireme::train {

struct SimulatedSlowdown {
  int worker = -1;          // the slow worker; -1: none
  double factor = 1;        // its work takes this many times as long
  std::int64_t rotate = 0;  // after this many steps the next worker becomes the slow one; 0: never

  // The seconds that worker `who` sleeps for work that takes `worked` seconds on a core of its own.
  double seconds(int who, std::int64_t step, int workers, double worked) const {
    if (worker < 0) return 0;
    const std::int64_t turn = rotate > 0 ? (step / rotate + worker) % workers : worker;
    return turn == who ? (factor - 1) * worked : 0;
  }
};

// Parses "worker=2,factor=3,rotate=3"; empty: no worker is slow. Mistakes are user errors.
SimulatedSlowdown parse_slow(const std::string& text, int workers);

}  // namespace trireme::train
