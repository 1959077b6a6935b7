#include "comm/transport/tcp/authenticated_link.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kLongestRecord = std::size_t{1} << 30;

template <class T>
std::span<const std::byte> object_bytes(const T& one) {
  return std::as_bytes(std::span(&one, 1));
}

}  // namespace

AuthenticatedLink::AuthenticatedLink(Socket socket, std::size_t control_bytes)
    : socket_(std::move(socket)), control_bytes_(control_bytes), buffer_(kLinkBuffer) {
  base::check(socket_.macs() != nullptr && socket_.tls() == nullptr, "a link over a connection without keys");
  base::check(sizeof(Prefix) + control_bytes <= kLinkBuffer, "control messages of {} bytes", control_bytes);
}

std::size_t AuthenticatedLink::covered(std::size_t bytes) const {
  return bytes <= control_bytes_ ? bytes : std::min(bytes, kAuthenticHead);
}

std::size_t AuthenticatedLink::send(std::span<const std::byte> bytes) {
  if (bytes.empty()) return 0;
  if (out_left_ == 0) {
    out_left_ = std::min(bytes.size(), kLongestRecord);
    out_.bytes = static_cast<std::uint32_t>(out_left_);
    out_.code = socket_.macs()->sends.sign(object_bytes(out_.bytes), bytes.first(covered(out_left_)));
    prefix_sent_ = 0;
  }
  const auto prefix = object_bytes(out_).subspan(prefix_sent_);
  const auto content = bytes.first(std::min(bytes.size(), out_left_));
  std::array<iovec, 2> parts{{{const_cast<std::byte*>(prefix.data()), prefix.size()},
                              {const_cast<std::byte*>(content.data()), content.size()}}};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  const ssize_t count = sendmsg(socket_.descriptor(), &message, MSG_NOSIGNAL);
  if (count < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return 0;
    throw GoneError(std::strerror(errno));
  }
  const std::size_t of_prefix = std::min(static_cast<std::size_t>(count), prefix.size());
  prefix_sent_ += of_prefix;
  const std::size_t of_content = static_cast<std::size_t>(count) - of_prefix;
  out_left_ -= of_content;
  return of_content;
}

void AuthenticatedLink::fill(std::size_t bytes) {
  if (buffered() >= bytes) return;
  std::memmove(buffer_.data(), buffer_.data() + begin_, buffered());
  end_ -= begin_;
  begin_ = 0;
  end_ += receive_some(socket_, std::span(buffer_).subspan(end_, std::max(bytes, kLinkReadAhead) - end_));
}

bool AuthenticatedLink::is_in_record() {
  if (in_left_ > 0) return true;
  fill(sizeof(Prefix));
  if (buffered() < sizeof(Prefix)) return false;
  Prefix prefix;
  std::memcpy(&prefix, buffer_.data() + begin_, sizeof prefix);
  const std::size_t whole = sizeof prefix + covered(prefix.bytes);
  fill(whole);
  if (buffered() < whole) return false;
  const auto content = std::span<const std::byte>(buffer_).subspan(begin_ + sizeof prefix, covered(prefix.bytes));
  if (prefix.bytes == 0 || !socket_.macs()->receives.verify(prefix.code, object_bytes(prefix.bytes), content))
    throw GoneError("what it sent was forged, altered or replayed on the network");
  begin_ += sizeof prefix;
  in_left_ = prefix.bytes;
  return true;
}

std::span<const std::byte> AuthenticatedLink::readable(std::size_t wanted) {
  if (!is_in_record()) return {};
  fill(std::min({wanted, in_left_, buffer_.size()}));
  return {buffer_.data() + begin_, std::min(buffered(), in_left_)};
}

void AuthenticatedLink::take(std::size_t count) {
  begin_ += count;
  in_left_ -= count;
}

std::size_t AuthenticatedLink::receive(std::span<std::byte> into) {
  std::size_t got = 0;
  while (got < into.size() && is_in_record()) {
    const std::size_t wanted = std::min(into.size() - got, in_left_), there = std::min(buffered(), wanted);
    std::memcpy(into.data() + got, buffer_.data() + begin_, there);
    take(there);
    got += there;
    if (there == wanted) continue;
    const std::size_t come = receive_some(socket_, into.subspan(got, wanted - there));
    in_left_ -= come;
    got += come;
    if (come < wanted - there) break;
  }
  return got;
}

}  // namespace trireme::comm
