// make_pair_pool(): our kernel for average pooling over 2 x 2 windows of plain images; oneDNN would convert them to
// blocks of channels and back. Thread-safe.
#pragma once

#include "ops/pool/pool.h"

namespace trireme::ops {

// Whether the kernel fits: adjacent 2 x 2 windows over a plain input. REQUIRES: `options` with a stride and a padding
// for each kernel size.
bool pair_pool_fits(const PoolOptions& options, const Layout& src);
std::unique_ptr<Kernel> make_pair_pool(const KernelRequest& request, const Shape& out);

}  // namespace trireme::ops
