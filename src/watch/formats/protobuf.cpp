#include "watch/formats/protobuf.h"

#include "watch/formats/little_endian.h"

namespace trireme::watch {
namespace {

// How a field's value is encoded; the low bits of its key.
enum WireType : std::uint8_t { kVarint = 0, kEightBytes = 1, kLength = 2, kFourBytes = 5 };

std::uint64_t key(int field, WireType type) { return static_cast<std::uint64_t>(field) << 3 | type; }

}  // namespace

void ProtoMessage::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

ProtoMessage& ProtoMessage::integer(int field, std::int64_t value) {
  varint(key(field, kVarint));
  varint(static_cast<std::uint64_t>(value));
  return *this;
}

ProtoMessage& ProtoMessage::number(int field, double value) {
  varint(key(field, kEightBytes));
  append_little_endian(bytes_, value);
  return *this;
}

ProtoMessage& ProtoMessage::single(int field, float value) {
  varint(key(field, kFourBytes));
  append_little_endian(bytes_, value);
  return *this;
}

ProtoMessage& ProtoMessage::text(int field, std::string_view value) {
  varint(key(field, kLength));
  varint(value.size());
  bytes_ += value;
  return *this;
}

}  // namespace trireme::watch
