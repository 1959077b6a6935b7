#include "comm/transport/tcp/frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "comm/transport/link/link.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kLengthBytes = 4;

std::size_t length_of(std::string_view bytes, std::size_t most) {
  std::size_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > most) throw FrameError(fmt::format("a frame of {} bytes, at most {} are allowed", length, most));
  return length;
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

}  // namespace

std::string make_frame(std::string_view text) {
  std::string frame;
  for (std::size_t i = 0; i < kLengthBytes; ++i) frame += static_cast<char>(text.size() >> (8 * i) & 0xff);
  return frame + std::string(text);
}

void FrameReader::add(std::span<const std::byte> bytes) {
  buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::optional<std::string> FrameReader::next() {
  if (buffer_.size() < kLengthBytes) return std::nullopt;
  const std::size_t length = length_of(buffer_, most_bytes_);
  if (buffer_.size() - kLengthBytes < length) return std::nullopt;
  std::string text = buffer_.substr(kLengthBytes, length);
  buffer_.erase(0, kLengthBytes + length);
  return text;
}

std::size_t FrameReader::missing() const {
  if (buffer_.size() < kLengthBytes) return kLengthBytes - buffer_.size();
  const std::size_t whole = kLengthBytes + length_of(buffer_, most_bytes_);
  return whole - std::min(whole, buffer_.size());
}

std::optional<std::string> authentic_text(const Socket& socket, std::string_view frame) {
  constexpr std::size_t kCode = sizeof(MacCode);
  if (frame.size() < kCode) return std::nullopt;
  const std::string_view text = frame.substr(kCode);
  if (!socket.macs()->receives.verify(bytes_of(frame.substr(0, kCode)), bytes_of(text))) return std::nullopt;
  return std::string(text);
}

std::string forgery_sentence(std::string_view sender) {
  return fmt::format(
      "a control message that claims to come from {} was refused: it was forged, altered or replayed on the network; "
      "use --tls where you do not trust that",
      sender);
}

void send_frame(const Socket& socket, std::string_view text, std::int64_t deadline_ns) {
  if (!socket.is_open()) throw GoneError("the connection was closed");
  const MacCode code = socket.macs()->sends.sign(bytes_of(text));
  const std::string signed_text = std::string(reinterpret_cast<const char*>(code.data()), code.size()).append(text);
  send_all(socket, bytes_of(make_frame(signed_text)), deadline_ns);
}

}  // namespace trireme::comm
