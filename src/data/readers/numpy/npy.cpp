#include "data/readers/numpy/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "data/readers/numpy/npy_header.h"

namespace trireme::data {
namespace {

constexpr std::array<std::uint8_t, 6> kMagic = {0x93, 'N', 'U', 'M', 'P', 'Y'};
constexpr std::size_t kMaxHeaderBytes = 10'000;  // NumPy's own limit
constexpr std::size_t kPieceValues = std::size_t{1} << 17;
constexpr std::size_t kGrowValues = std::size_t{16} << 20;

void read_exactly(const NumpyInput& input, std::uint8_t* dst, std::size_t bytes, const char* what) {
  if (input.read(dst, bytes) != bytes)
    base::user_error("{} is cut short: it ends within {}; fetch or copy the file again", input.where, what);
}

NpyHeader read_header(const NumpyInput& input, std::uint64_t& header_bytes) {
  std::array<std::uint8_t, 12> head{};
  read_exactly(input, head.data(), 8, "the NumPy header");
  if (!std::equal(kMagic.begin(), kMagic.end(), head.begin()))
    base::user_error("{} is no NumPy array: it does not begin with \\x93NUMPY", input.where);
  const int version = head[6];
  if (version < 1 || version > 3 || head[7] != 0)
    base::user_error("{} is a NumPy array of version {}.{}; the versions 1.0, 2.0 and 3.0 are read", input.where,
                     version, head[7]);
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  read_exactly(input, head.data() + 8, length_bytes, "the NumPy header");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= std::size_t{head[8 + i]} << (8 * i);
  if (length > kMaxHeaderBytes)
    base::user_error("{} has a NumPy header of {} bytes, at most {} are read; it is damaged, or no plain array",
                     input.where, length, kMaxHeaderBytes);
  std::vector<std::uint8_t> text(length);
  read_exactly(input, text.data(), length, "the NumPy header");
  header_bytes = 8 + length_bytes + length;
  return parse_npy_header({reinterpret_cast<const char*>(text.data()), length}, input.where);
}

float half_to_float(std::uint16_t half) {
  const int exponent = half >> 10 & 31;
  const auto fraction = static_cast<float>(half & 1023);
  const float size = exponent == 0    ? std::ldexp(fraction, -24)
                     : exponent == 31 ? (fraction == 0 ? HUGE_VALF : std::nanf(""))
                                      : std::ldexp(fraction + 1024, exponent - 25);
  return half >> 15 ? -size : size;
}

// Stored: the unsigned integer of T's size.
template <class T, class Stored>
void to_floats(const std::uint8_t* raw, std::size_t count, bool big_endian, float* to) {
  for (std::size_t i = 0; i < count; ++i) {
    std::array<std::uint8_t, sizeof(Stored)> bytes;
    std::memcpy(bytes.data(), raw + i * sizeof(Stored), sizeof(Stored));
    if (big_endian) std::reverse(bytes.begin(), bytes.end());
    to[i] = static_cast<float>(std::bit_cast<T>(bytes));
  }
}

void halves_to_floats(const std::uint8_t* raw, std::size_t count, bool big_endian, float* to) {
  to_floats<std::uint16_t, std::uint16_t>(raw, count, big_endian, to);
  for (std::size_t i = 0; i < count; ++i) to[i] = half_to_float(static_cast<std::uint16_t>(to[i]));
}

using Convert = void (*)(const std::uint8_t* raw, std::size_t count, bool big_endian, float* to);

Convert conversion(const NpyHeader& header) {
  const auto of_size = [&](Convert one, Convert two, Convert four, Convert eight) {
    return header.value_bytes == 1 ? one : header.value_bytes == 2 ? two : header.value_bytes == 4 ? four : eight;
  };
  if (header.kind == 'f')
    return of_size(nullptr, halves_to_floats, to_floats<float, std::uint32_t>, to_floats<double, std::uint64_t>);
  if (header.kind == 'i')
    return of_size(to_floats<std::int8_t, std::uint8_t>, to_floats<std::int16_t, std::uint16_t>,
                   to_floats<std::int32_t, std::uint32_t>, to_floats<std::int64_t, std::uint64_t>);
  return of_size(nullptr, to_floats<std::uint16_t, std::uint16_t>, to_floats<std::uint32_t, std::uint32_t>,
                 to_floats<std::uint64_t, std::uint64_t>);
}

// Calls read(begin, count) for pieces of the values. `vouched`: the input is known to be long enough, so memory is
// reserved at once; otherwise the vector grows with the data that arrives.
template <class T, class Read>
void read_pieces(std::vector<T>& values, std::size_t count, bool vouched, const Read& read) {
  if (vouched) values.reserve(count);
  for (std::size_t begin = 0; begin < count;) {
    const std::size_t end = std::min(count, begin + (sizeof(T) == 1 ? kGrowValues : kPieceValues));
    values.resize(end);
    read(values.data() + begin, end - begin);
    begin = end;
  }
}

void read_values(const NumpyInput& input, const NpyHeader& header, NumpyArray& array) {
  const auto count = static_cast<std::size_t>(header.shape.count());
  const bool vouched = input.bytes.has_value();
  if (header.value_bytes == 1 && header.kind != 'i') {
    array.type = ValueType::byte;
    read_pieces(array.bytes, count, vouched,
                [&](std::uint8_t* to, std::size_t n) { read_exactly(input, to, n, "its values"); });
    if (header.kind == 'b')
      for (std::uint8_t& value : array.bytes) value = value != 0;
    return;
  }
  array.type = ValueType::real;
  const Convert convert = conversion(header);
  std::vector<std::uint8_t> raw(std::min(count, kPieceValues) * header.value_bytes);
  read_pieces(array.reals, count, vouched, [&](float* to, std::size_t n) {
    read_exactly(input, raw.data(), n * header.value_bytes, "its values");
    convert(raw.data(), n, header.big_endian, to);
  });
}

// One dimension of `from` in the new order: its size, and the distance (in values) of neighbours along it.
struct Dimension {
  std::size_t size, stride;
};

template <class T>
void gather(const T* from, std::span<const Dimension> dimensions, T*& to) {
  const Dimension& d = dimensions.front();
  if (dimensions.size() == 1)
    for (std::size_t i = 0; i < d.size; ++i) *to++ = from[i * d.stride];
  else
    for (std::size_t i = 0; i < d.size; ++i) gather(from + i * d.stride, dimensions.subspan(1), to);
}

template <class T>
void gather_all(std::vector<T>& values, std::span<const Dimension> dimensions) {
  if (values.empty()) return;
  std::vector<T> gathered(values.size());
  T* to = gathered.data();
  gather(values.data(), dimensions, to);
  values = std::move(gathered);
}

void make_row_major(NumpyArray& array) {
  if (array.shape.rank() < 2) return;
  std::vector<Dimension> dimensions;
  std::size_t stride = 1;
  for (const std::int64_t size : array.shape.sizes()) {
    dimensions.push_back({static_cast<std::size_t>(size), stride});
    stride *= static_cast<std::size_t>(size);
  }
  gather_all(array.bytes, dimensions);
  gather_all(array.reals, dimensions);
}

}  // namespace

const std::byte* NumpyArray::data() const {
  return type == ValueType::byte ? reinterpret_cast<const std::byte*>(bytes.data())
                                 : reinterpret_cast<const std::byte*>(reals.data());
}

NumpyArray read_npy(const NumpyInput& input) {
  std::uint64_t header_bytes = 0;
  const NpyHeader header = read_header(input, header_bytes);
  const std::uint64_t needed = static_cast<std::uint64_t>(header.shape.count()) * header.value_bytes;
  if (input.bytes && (*input.bytes < header_bytes || needed > *input.bytes - header_bytes))
    base::user_error("{} is cut short: its shape {} takes {} bytes, but only {} follow the header", input.where,
                     header.shape.text(), needed, *input.bytes - std::min(*input.bytes, header_bytes));
  NumpyArray array;
  array.where = input.where;
  array.shape = header.shape;
  read_values(input, header, array);
  std::uint8_t extra;
  if (input.read(&extra, 1) != 0)
    base::user_error("{} is longer than its shape {} allows; save the array again with np.save", input.where,
                     header.shape.text());
  if (header.fortran_order) make_row_major(array);
  return array;
}

NumpyArray read_npy(std::span<const std::uint8_t> bytes, const std::string& where) {
  std::size_t at = 0;
  return read_npy({.where = where,
                   .read =
                       [&](std::uint8_t* dst, std::size_t wanted) {
                         const std::size_t got = std::min(wanted, bytes.size() - at);
                         if (got > 0) std::memcpy(dst, bytes.data() + at, got);
                         at += got;
                         return got;
                       },
                   .bytes = bytes.size()});
}

void reorder(NumpyArray& array, std::span<const int> order) {
  base::check(static_cast<int>(order.size()) == array.shape.rank(), "an order of {} for {} dimensions", order.size(),
              array.shape.rank());
  std::vector<Dimension> dimensions;
  std::vector<std::int64_t> sizes;
  for (const int from : order) {
    sizes.push_back(array.shape[from]);
    dimensions.push_back(
        {static_cast<std::size_t>(sizes.back()), static_cast<std::size_t>(array.shape.count_from(from + 1))});
  }
  gather_all(array.bytes, dimensions);
  gather_all(array.reals, dimensions);
  array.shape = tensor::Shape(std::move(sizes));
}

}  // namespace trireme::data
