// Encoding of the typed messages between the roles of a run.
// The functions are thread-safe; a MessageWriter or MessageReader has one caller at a time.
//
// A message is a struct; a kind of message is a std::variant of structs. Each struct lists its fields once, in kFields,
// which the encoder and the decoder both read. Layout: one byte for the alternative, then the fields as they are in
// memory; strings and lists start with their length (uint64). All processes of a run are the same program, so messages
// have no version.
//
// Adding a message: its struct, its kFields, one more alternative of the variant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/match.h"

namespace trireme::train {

// Pointers to the members that are encoded: template <> inline constexpr auto kFields<ComputeOrder> =
// std::tuple{&ComputeOrder::phase};
template <class T>
inline constexpr auto kFields = nullptr;
template <class T>
concept HasFields = !std::is_same_v<decltype(kFields<T>), const std::nullptr_t>;

class MessageWriter {
 public:
  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else if constexpr (HasFields<T>) {
      std::apply([&](auto... field) { ((*this)(value.*field), ...); }, kFields<T>);
    } else {  // a list
      (*this)(static_cast<std::uint64_t>(value.size()));
      for (const auto& each : value) (*this)(each);
    }
  }
  void operator()(const std::string& text) {
    (*this)(static_cast<std::uint64_t>(text.size()));
    bytes_ += text;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Every read is checked against the end: a message that is too short or too long is an internal error.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      (*this)(byte);
      value = byte != 0;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      std::memcpy(&value, take(sizeof value).data(), sizeof value);
    } else if constexpr (HasFields<T>) {
      std::apply([&](auto... field) { ((*this)(value.*field), ...); }, kFields<T>);
    } else {  // a list
      value.clear();
      for (std::uint64_t left = length(); left > 0; --left) (*this)(value.emplace_back());
    }
  }
  void operator()(std::string& text) {
    const std::span<const std::byte> read = take(length());
    text.assign(reinterpret_cast<const char*>(read.data()), read.size());
  }
  void expect_end() const { base::check(bytes_.empty(), "a message has {} bytes too many", bytes_.size()); }

 private:
  std::span<const std::byte> take(std::uint64_t bytes) {
    base::check(bytes <= bytes_.size(), "a message ends after {} of {} bytes", bytes_.size(), bytes);
    const std::span<const std::byte> taken = bytes_.first(bytes);
    bytes_ = bytes_.subspan(bytes);
    return taken;
  }
  // Every element has at least one byte, so a list cannot be longer than the rest of the message.
  std::uint64_t length() {
    std::uint64_t count = 0;
    (*this)(count);
    base::check(count <= bytes_.size(), "a message has a list of {} in {} bytes", count, bytes_.size());
    return count;
  }

  std::span<const std::byte> bytes_;
};

template <HasFields T>
std::string encode(const T& message) {
  MessageWriter writer;
  writer(message);
  return writer.take();
}

template <HasFields T>
T decode(std::span<const std::byte> bytes) {
  MessageReader reader(bytes);
  T message;
  reader(message);
  reader.expect_end();
  return message;
}

template <class Variant>
std::string encode(const Variant& message) {
  static_assert(std::variant_size_v<Variant> < 256);
  MessageWriter writer;
  writer(static_cast<std::uint8_t>(message.index()));
  std::visit(writer, message);
  return writer.take();
}

template <class Variant>
Variant decode(std::span<const std::byte> bytes) {
  MessageReader reader(bytes);
  std::uint8_t index = 0;
  reader(index);
  base::check(index < std::variant_size_v<Variant>, "a message of kind {}, of {}", index, std::variant_size_v<Variant>);
  Variant message;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((index == I ? (message.template emplace<I>(), reader(std::get<I>(message))) : void()), ...);
  }
  (std::make_index_sequence<std::variant_size_v<Variant>>());
  reader.expect_end();
  return message;
}

using base::Match;

}  // namespace trireme::train
