// Own average pooling over 2 x 2 windows of plain images, which oneDNN turns into blocks of channels and back.
#pragma once

#include "ops/pool/pool.h"

namespace trireme::ops {

// 2 x 2 windows side by side over an input that comes plain. `options` are complete.
bool pair_pool_fits(const PoolOptions& options, const Layout& src);
std::unique_ptr<Kernel> make_pair_pool(const KernelRequest& request, const Shape& out);

}  // namespace trireme::ops
