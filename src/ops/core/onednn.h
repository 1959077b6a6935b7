// The only interface to oneDNN: primitives are created and executed only through these functions.
// Thread-safe; a BoundPrimitive takes one caller at a time.
//
// oneDNN chooses blockings from the OpenMP thread count at creation. That setting belongs to the calling thread and is
// not inherited, so these functions set it on the calling thread around every creation and execution. The caller
// provides scratchpads, math is strict, buffers are 64-byte aligned, and the instruction set is the engine's: oneDNN's
// environment variables have no effect.
#pragma once

#include <dnnl.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/layout.h"

namespace trireme::ops::onednn {

using tensor::Layout;
using tensor::Shape;

// The CPU engine: an immutable handle, the same for every primitive.
const dnnl::engine& cpu();

dnnl::memory::desc to_desc(const Layout& layout);
// A descriptor without a layout: the primitive chooses one.
dnnl::memory::desc any_desc(const Shape& shape);
Shape shape_of(const dnnl::memory::desc& desc);
// REQUIRES: a blocked layout without extra (compensation, Winograd) data.
Layout to_layout(const dnnl::memory::desc& desc);

// Attributes for every primitive: user-managed scratchpad, strict math.
dnnl::primitive_attr attributes();

// Runs `make` with this thread's OpenMP thread count set, and turns oneDNN's errors into ours; `what` names the
// primitive in errors. The first call of the process sets the instruction set.
void create(int threads, const std::string& what, const std::function<void()>& make);

// True while the calling thread is inside oneDNN.
bool inside_library();

// For example "2.6.3".
std::string library_version();

// A primitive bound to its memory. execute() allocates no memory of ours.
class BoundPrimitive {
 public:
  using Arg = std::pair<int, dnnl::memory>;
  BoundPrimitive() = default;
  BoundPrimitive(dnnl::primitive primitive, const std::vector<Arg>& args, int threads);
  void execute() const;

 private:
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> args_;
  int threads_ = 1;
};

// A memory object over the caller's memory. REQUIRES: 64-byte alignment.
dnnl::memory memory_at(const dnnl::memory::desc& desc, const void* data);

}  // namespace trireme::ops::onednn
