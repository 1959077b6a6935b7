// The one gate to oneDNN: primitives are created and executed only through here.
//
// oneDNN chooses blockings from the OpenMP thread count at creation, and that setting belongs to the calling thread and
// is not inherited; so the gate sets it on its own thread around every creation and execution. Scratchpads are given by
// the caller, math is strict, buffers lie on 64 bytes, and the instruction set is the engine's, whatever oneDNN's
// environment variables say. Any thread may use the gate; a Bound belongs to one thread at a time.
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
// "Any layout": the primitive chooses.
dnnl::memory::desc any_desc(const Shape& shape);
Shape shape_of(const dnnl::memory::desc& desc);
// REQUIRES: a blocked layout without extra (compensation, Winograd) data.
Layout to_layout(const dnnl::memory::desc& desc);

// User scratchpad, strict math.
dnnl::primitive_attr attributes();

// Runs `make` with the OpenMP thread count set for this thread and oneDNN's errors turned into ours. Sets the
// instruction set before the first call of the process.
void create(int threads, const std::string& what, const std::function<void()>& make);

// True while the calling thread is inside oneDNN.
bool inside_library();

// "2.6.3", and how it was built ("OpenMP").
std::string library_version();

// A primitive with its memory: execute() allocates nothing of ours.
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

// A memory object over given 64-byte-aligned memory.
dnnl::memory memory_at(const dnnl::memory::desc& desc, const void* data);

}  // namespace trireme::ops::onednn
