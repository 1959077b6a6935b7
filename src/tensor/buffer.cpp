#include "tensor/buffer.h"

#include <cstring>

#include "base/error.h"
#include "base/system/aligned_memory.h"

namespace trireme::tensor {

static_assert(kAlignment == base::kMemoryAlignment);

Buffer::Buffer(std::size_t bytes, Content content) : bytes_(bytes), owned_(true) {
  if (bytes == 0) return;
  data_ = base::allocate_aligned(bytes).release();
  if (content == Content::zero) std::memset(data_, 0, bytes);
}

Buffer::Buffer(void* memory, std::size_t bytes) : data_(static_cast<std::byte*>(memory)), bytes_(bytes) {
  base::check(reinterpret_cast<std::uintptr_t>(memory) % kAlignment == 0, "a buffer must lie on {} bytes", kAlignment);
}

Buffer::~Buffer() {
  if (owned_) base::free_aligned(data_);
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(owned_, other.owned_);
  return *this;
}

}  // namespace trireme::tensor
