#include "observe/trace_pack.h"

#include <cstring>
#include <span>
#include <type_traits>

#include "base/error.h"
#include "base/hash.h"

namespace trireme::observe {
namespace {

constexpr std::uint64_t kMagic = 0x31656361'72545254;  // "TRTrace1"

std::uint64_t hash_of(std::string_view bytes) { return base::xxh3(std::as_bytes(std::span(bytes))); }

template <class T>
void put(std::string& packed, T value) {
  static_assert(std::is_integral_v<T>);
  packed.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put_count(std::string& packed, std::size_t count) { put(packed, static_cast<std::uint32_t>(count)); }

class Reader {
 public:
  explicit Reader(std::string_view left) : left_(left) {}

  template <class T>
  T take() {
    T value{};
    const auto bytes = take_bytes(sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string_view take_bytes(std::size_t count) {
    require(count <= left_.size());
    const auto taken = left_.substr(0, count);
    left_.remove_prefix(count);
    return taken;
  }
  // A count of items of at least `each` bytes; rejects a count that the remaining bytes cannot hold.
  std::size_t take_count(std::size_t each) {
    const auto count = take<std::uint32_t>();
    require(count <= left_.size() / each);
    return count;
  }
  void require(bool holds) const {
    if (!holds) base::run_error("a trace of another rank is damaged");
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

}  // namespace

std::string pack(const PackedTrace& trace) {
  std::string packed;
  packed.reserve(64 + trace.spans.size() * sizeof(PackedTrace::Span));
  put(packed, kMagic);
  put_count(packed, trace.names.size());
  for (const std::string& name : trace.names) {
    put_count(packed, name.size());
    packed += name;
  }
  put_count(packed, trace.lanes.size());
  for (const auto& [lane, name] : trace.lanes) {
    put(packed, lane);
    put(packed, name);
  }
  put_count(packed, trace.spans.size());
  for (const auto& [name, lane, start_ns, end_ns] : trace.spans) {
    put(packed, name);
    put(packed, lane);
    put(packed, start_ns);
    put(packed, end_ns);
  }
  put(packed, trace.left_out);
  put(packed, hash_of(packed));
  return packed;
}

PackedTrace unpack(std::string_view packed) {
  Reader all(packed);
  all.require(packed.size() >= 2 * sizeof(std::uint64_t));
  Reader reader(all.take_bytes(packed.size() - sizeof(std::uint64_t)));
  all.require(all.take<std::uint64_t>() == hash_of(packed.substr(0, packed.size() - sizeof(std::uint64_t))));
  all.require(reader.take<std::uint64_t>() == kMagic);
  PackedTrace trace;
  for (std::size_t left = reader.take_count(4); left > 0; --left) {
    const std::size_t length = reader.take_count(1);
    trace.names.emplace_back(reader.take_bytes(length));
  }
  const auto take_name = [&] {
    const auto name = reader.take<std::uint32_t>();
    reader.require(name < trace.names.size());
    return name;
  };
  for (std::size_t left = reader.take_count(8); left > 0; --left) {
    const auto lane = reader.take<std::int32_t>();
    trace.lanes.emplace_back(lane, take_name());
  }
  const std::size_t spans = reader.take_count(24);
  trace.spans.reserve(spans);
  for (std::size_t i = 0; i < spans; ++i) {
    PackedTrace::Span& span = trace.spans.emplace_back();
    span.name = take_name();
    span.lane = reader.take<std::int32_t>();
    span.start_ns = reader.take<std::int64_t>();
    span.end_ns = reader.take<std::int64_t>();
  }
  trace.left_out = reader.take<std::uint64_t>();
  reader.require(reader.at_end());
  return trace;
}

}  // namespace trireme::observe
