#include "tensor/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace trireme::tensor {
namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;
}

Buffer::Buffer(std::size_t bytes, Content content) : bytes_(bytes), owned_(true) {
  if (bytes == 0) return;
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kAlignment;
  data_ = static_cast<std::byte*>(std::aligned_alloc(alignment, align_up(bytes, alignment)));
  if (!data_)
    base::run_error("out of memory: {} bytes were asked for; try a smaller --batch or fewer --threads", bytes);
  if (alignment == kHugePage) ::madvise(data_, align_up(bytes, alignment), MADV_HUGEPAGE);
  if (content == Content::zero) std::memset(data_, 0, bytes);
}

Buffer::Buffer(void* memory, std::size_t bytes) : data_(static_cast<std::byte*>(memory)), bytes_(bytes) {
  base::check(reinterpret_cast<std::uintptr_t>(memory) % kAlignment == 0, "a buffer must lie on {} bytes", kAlignment);
}

Buffer::~Buffer() {
  if (owned_) std::free(data_);
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(owned_, other.owned_);
  return *this;
}

}  // namespace trireme::tensor
