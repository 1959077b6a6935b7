#include "observe/trace/span_chunk.h"

#include <cstdlib>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/error.h"
#include "base/hash.h"

namespace trireme::observe {
namespace {

constexpr std::uint64_t kMagic = 0x31736e61'70535254;  // "TRSpans1"
constexpr std::size_t kSpanBytes = 4 + 2 + 2 + 4 + 5 * 8 + kSpanArguments * 8;
constexpr std::int64_t kLongestTime = std::int64_t{1} << 60;
constexpr double kMostDrift = 0.5;

std::uint64_t hash_of(std::string_view bytes) { return base::xxh3(std::as_bytes(std::span(bytes))); }

template <class T>
void put(std::string& packed, T value) {
  static_assert(std::is_arithmetic_v<T>);
  packed.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put_count(std::string& packed, std::size_t count) { put(packed, static_cast<std::uint32_t>(count)); }
void put_text(std::string& packed, const std::string& text) {
  put_count(packed, text.size());
  packed += text;
}

class ChunkReader {
 public:
  explicit ChunkReader(std::string_view left) : left_(left) {}

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
  std::string take_text() { return std::string(take_bytes(take_count(1))); }
  void require(bool holds) const {
    if (!holds) base::run_error("spans of another process are damaged");
  }
  bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
};

}  // namespace

std::string pack(const SpanChunk& chunk) {
  std::string packed;
  packed.reserve(256 + chunk.spans.size() * kSpanBytes);
  put(packed, kMagic);
  put(packed, chunk.process);
  put_text(packed, chunk.name);
  put(packed, chunk.clock.at_ns);
  put(packed, chunk.clock.ahead_ns);
  put(packed, chunk.clock.drift);
  put(packed, chunk.clock.bound_ns);
  put_count(packed, chunk.texts.size());
  for (const std::string& text : chunk.texts) put_text(packed, text);
  put_count(packed, chunk.lanes.size());
  for (const auto& [lane, name] : chunk.lanes) {
    put(packed, lane);
    put(packed, name);
  }
  put_count(packed, chunk.spans.size());
  for (const auto& [lane, keeps, span] : chunk.spans) {
    put(packed, lane);
    put(packed, static_cast<std::uint16_t>(span.kind));
    put(packed, keeps);
    put(packed, span.detail);
    put(packed, span.step);
    put(packed, span.start_ns);
    put(packed, span.end_ns);
    put(packed, span.arrow_out);
    put(packed, span.arrow_in);
    for (const double argument : span.arguments) put(packed, argument);
  }
  put(packed, chunk.left_out);
  put(packed, hash_of(packed));
  return packed;
}

SpanChunk unpack_spans(std::string_view packed) {
  ChunkReader all(packed);
  all.require(packed.size() >= 2 * sizeof(std::uint64_t));
  ChunkReader reader(all.take_bytes(packed.size() - sizeof(std::uint64_t)));
  all.require(all.take<std::uint64_t>() == hash_of(packed.substr(0, packed.size() - sizeof(std::uint64_t))));
  reader.require(reader.take<std::uint64_t>() == kMagic);
  SpanChunk chunk;
  chunk.process = reader.take<std::int32_t>();
  chunk.name = reader.take_text();
  chunk.clock.at_ns = reader.take<std::int64_t>();
  chunk.clock.ahead_ns = reader.take<std::int64_t>();
  chunk.clock.drift = reader.take<double>();
  chunk.clock.bound_ns = reader.take<std::int64_t>();
  // Later sums of times must not overflow.
  const auto require_time = [&](std::int64_t ns) { reader.require(-kLongestTime <= ns && ns <= kLongestTime); };
  require_time(chunk.clock.at_ns);
  require_time(chunk.clock.ahead_ns);
  reader.require(std::abs(chunk.clock.drift) <= kMostDrift);
  chunk.texts.clear();
  for (std::size_t left = reader.take_count(4); left > 0; --left) chunk.texts.emplace_back(reader.take_text());
  const auto take_index = [&] {
    const auto index = reader.take<std::uint32_t>();
    reader.require(index < chunk.texts.size());
    return index;
  };
  for (std::size_t left = reader.take_count(8); left > 0; --left) {
    const auto lane = reader.take<std::int32_t>();
    chunk.lanes.emplace_back(lane, take_index());
  }
  const std::size_t spans = reader.take_count(kSpanBytes);
  chunk.spans.reserve(spans);
  for (std::size_t i = 0; i < spans; ++i) {
    auto& [lane, keeps, span] = chunk.spans.emplace_back();
    lane = reader.take<std::int32_t>();
    const auto kind = reader.take<std::uint16_t>();
    reader.require(kind < kSpanKinds.size());
    span.kind = static_cast<SpanKind>(kind);
    keeps = reader.take<std::uint16_t>();
    span.detail = take_index();
    span.step = reader.take<std::int64_t>();
    span.start_ns = reader.take<std::int64_t>();
    span.end_ns = reader.take<std::int64_t>();
    require_time(span.start_ns);
    require_time(span.end_ns);
    span.arrow_out = reader.take<std::uint64_t>();
    span.arrow_in = reader.take<std::uint64_t>();
    for (double& argument : span.arguments) argument = reader.take<double>();
  }
  chunk.left_out = reader.take<std::uint64_t>();
  reader.require(reader.at_end());
  return chunk;
}

}  // namespace trireme::observe
