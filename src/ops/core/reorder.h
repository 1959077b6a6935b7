// Reorder: copies values to another layout. The layout pass inserts it as a kernel; WeightForms uses LayoutCopy.
// make_reorder() is thread-safe; a LayoutCopy takes one caller at a time.
#pragma once

#include <memory>

#include "ops/core/op.h"

namespace trireme::ops {

// A kernel that copies from one layout to another; its backward is the reverse reorder.
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
