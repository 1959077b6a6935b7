// Reorder: the same values in another layout. Inserted by the layout pass, and used to refresh derived weights.
#pragma once

#include <memory>

#include "ops/core/op.h"

namespace trireme::ops {

// A kernel from one layout to another; its gradient is the way back.
std::unique_ptr<Kernel> make_reorder(const Layout& from, const Layout& to, int threads);

// A copy between two fixed places, bound once and run once per step.
class LayoutCopy {
 public:
  LayoutCopy(const Layout& from, ConstView src, const Layout& to, View dst, int threads);
  ~LayoutCopy();
  LayoutCopy(LayoutCopy&&) noexcept;
  void run() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::ops
