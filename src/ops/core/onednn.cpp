#include "ops/core/onednn.h"

#include <omp.h>

#include <mutex>

#include "base/cpu/race_check.h"
#include "base/cpu/simd.h"
#include "base/error.h"
#include "tensor/buffer.h"

namespace trireme::ops::onednn {
namespace {

thread_local bool inside = false;

// While alive: this thread's OpenMP count is `threads` and the thread counts as inside oneDNN.
class Scope {
 public:
  explicit Scope(int threads) : before_(omp_get_max_threads()) {
    if (before_ != threads) omp_set_num_threads(threads);
    base::check(omp_get_max_threads() == threads, "OpenMP gives {} threads, {} were set", omp_get_max_threads(),
                threads);
    inside = true;
  }
  ~Scope() {
    inside = false;
    if (before_ != omp_get_max_threads()) omp_set_num_threads(before_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  int before_;
};

dnnl::cpu_isa isa_for(base::Isa isa) {
  switch (isa) {
    case base::Isa::avx512: return dnnl::cpu_isa::avx512_core;
    case base::Isa::avx2: return dnnl::cpu_isa::avx2;
    case base::Isa::generic: return dnnl::cpu_isa::sse41;
  }
  return dnnl::cpu_isa::sse41;
}

// An explicit call wins over oneDNN's environment variables, but only before its first use in the process.
void fix_library_settings() {
  static std::once_flag once;
  std::call_once(once, [] {
    const auto set = dnnl::set_max_cpu_isa(isa_for(base::active_isa()));
    base::check(set == dnnl::status::success, "oneDNN was used before the instruction set was chosen");
    dnnl::set_cpu_isa_hints(dnnl::cpu_isa_hints::no_hints);
    dnnl_set_default_fpmath_mode(dnnl_fpmath_mode_strict);
    dnnl::set_jit_dump(0);
  });
}

dnnl::memory::data_type type_for(tensor::ElementType type) {
  switch (type) {
    case tensor::ElementType::float32: return dnnl::memory::data_type::f32;
  }
  return dnnl::memory::data_type::undef;
}

tensor::ElementType type_of(dnnl::memory::data_type type) {
  for (const auto& row : tensor::kElementTypes)
    if (type_for(row.type) == type) return row.type;
  base::throw_error(base::ErrorKind::internal,
                    fmt::format("oneDNN chose elements of a type we do not have ({})", static_cast<int>(type)));
}

}  // namespace

const dnnl::engine& cpu() {
  static const dnnl::engine engine = [] {
    fix_library_settings();
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return engine;
}

dnnl::memory::desc any_desc(const Shape& shape) {
  return {dnnl::memory::dims(shape.sizes().begin(), shape.sizes().end()), dnnl::memory::data_type::f32,
          dnnl::memory::format_tag::any};
}

Shape shape_of(const dnnl::memory::desc& desc) {
  return Shape(std::vector<std::int64_t>(desc.data.dims, desc.data.dims + desc.data.ndims));
}

dnnl::memory::desc to_desc(const Layout& layout) {
  // Built plain, then blocked by hand: the public structure holds exactly our fields.
  const dnnl::memory::dims dims(layout.shape.sizes().begin(), layout.shape.sizes().end());
  const Layout plain = Layout::plain(layout.shape);
  dnnl::memory::desc desc(dims, type_for(layout.type), dnnl::memory::dims(plain.strides.begin(), plain.strides.end()));
  auto& data = desc.data;
  auto& blocking = data.format_desc.blocking;
  for (int d = 0; d < layout.shape.rank(); ++d) {
    data.padded_dims[d] = layout.padded[d];
    blocking.strides[d] = layout.strides[static_cast<std::size_t>(d)];
  }
  blocking.inner_nblks = static_cast<int>(layout.inner.size());
  for (std::size_t b = 0; b < layout.inner.size(); ++b) {
    blocking.inner_blks[b] = layout.inner[b].size;
    blocking.inner_idxs[b] = layout.inner[b].dimension;
  }
  return desc;
}

Layout to_layout(const dnnl::memory::desc& desc) {
  const auto& data = desc.data;
  base::check(data.format_kind == dnnl_blocked && data.extra.flags == dnnl_memory_extra_flag_none,
              "oneDNN chose a layout that is not a plain blocking (kind {})", static_cast<int>(data.format_kind));
  Layout layout;
  std::vector<std::int64_t> dims(data.dims, data.dims + data.ndims),
      padded(data.padded_dims, data.padded_dims + data.ndims);
  layout.shape = Shape(std::move(dims));
  layout.padded = Shape(std::move(padded));
  const auto& blocking = data.format_desc.blocking;
  layout.strides.assign(blocking.strides, blocking.strides + data.ndims);
  for (int b = 0; b < blocking.inner_nblks; ++b)
    layout.inner.push_back({static_cast<int>(blocking.inner_idxs[b]), blocking.inner_blks[b]});
  layout.type = type_of(desc.data_type());
  return layout;
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_fpmath_mode(dnnl::fpmath_mode::strict);
  return attr;
}

void create(int threads, const std::string& what, const std::function<void()>& make) {
  cpu();
  // oneDNN hands out what another thread has created from a cache whose synchronization the thread sanitizer, which
  // does not see into the library, takes for none.
  static std::mutex creating;
  const auto lock = base::kChecksRaces ? std::unique_lock(creating) : std::unique_lock<std::mutex>();
  const Scope scope(threads);
  try {
    make();
  } catch (const dnnl::error& error) {
    base::run_error("oneDNN cannot make {}: {}", what, error.what());
  }
}

bool inside_library() { return inside; }

std::string library_version() {
  const auto* version = dnnl::version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

BoundPrimitive::BoundPrimitive(dnnl::primitive primitive, const std::vector<Arg>& args, int threads)
    : primitive_(std::move(primitive)), stream_(cpu()), threads_(threads) {
  for (const auto& [index, memory] : args) {
    memories_.push_back(memory);
    args_.push_back({index, memory.get()});
  }
}

void BoundPrimitive::execute() const {
  const Scope scope(threads_);
  const auto status =
      dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(args_.size()), args_.data());
  base::check(status == dnnl_success, "oneDNN failed to execute (status {})", static_cast<int>(status));
}

dnnl::memory memory_at(const dnnl::memory::desc& desc, const void* data) {
  base::check(reinterpret_cast<std::uintptr_t>(data) % tensor::kAlignment == 0, "memory for oneDNN is not on {} bytes",
              tensor::kAlignment);
  return {desc, cpu(), const_cast<void*>(data)};
}

}  // namespace trireme::ops::onednn
