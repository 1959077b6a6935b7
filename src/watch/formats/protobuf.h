// ProtoMessage: a protobuf message written field by field. A value; one thread at a time.
//
// Only what TensorBoard's messages need. Fields may come in any order; a field that holds its default is left out by
// not writing it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trireme::watch {

class ProtoMessage {
 public:
  ProtoMessage& integer(int field, std::int64_t value);
  ProtoMessage& number(int field, double value);
  ProtoMessage& single(int field, float value);
  ProtoMessage& text(int field, std::string_view value);  // or bytes
  ProtoMessage& message(int field, const ProtoMessage& value) { return text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value);

  std::string bytes_;
};

}  // namespace trireme::watch
