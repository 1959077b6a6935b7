// Links without TLS: what is sent comes, in whatever pieces; what somebody on the network adds, alters or repeats does
// not.
#include "comm/transport/tcp/authenticated_link.h"

#include <functional>
#include <memory>

#include "comm/ends.h"
#include "comm/transport/tcp/socket_link.h"

namespace trireme::comm {
namespace {

const Secrecy kPlain{"a token of this job", false};
constexpr std::size_t kControl = 1024;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

void send_whole(Link& link, std::span<const std::byte> bytes) {
  for (const std::int64_t deadline = soon(); !bytes.empty() && base::now_ns() < deadline;)
    bytes = bytes.subspan(link.send(bytes));
}

// As much as comes of so many bytes.
std::string receive_whole(Link& link, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t got = 0;
  for (const std::int64_t deadline = soon(); got < bytes && base::now_ns() < deadline;)
    got += link.receive(std::as_writable_bytes(std::span(text)).subspan(got));
  return text.substr(0, got);
}

TEST(AuthenticatedLink, WhatIsSentComes) {
  Fixture one(kPlain);
  AuthenticatedLink from(std::move(one.ends.guest), kControl), to(std::move(one.ends.host), kControl);
  std::size_t size = 1;
  for (int turn = 0; turn < 40; ++turn, size = size * 3 / 2 + 1) {  // up to some megabytes
    std::vector<std::byte> sent(size), got(size);
    for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<std::byte>(i * 31 + size);
    std::size_t there = 0, here = 0;
    for (const std::int64_t deadline = soon(); here < size && base::now_ns() < deadline;) {
      if (there < size) there += from.send(std::span(sent).subspan(there));
      if (turn % 2 == 0) {
        here += to.receive(std::span(got).subspan(here, std::min<std::size_t>(size - here, 70000)));
      } else {
        const auto some = to.readable(size - here);
        std::copy(some.begin(), some.end(), got.begin() + static_cast<std::ptrdiff_t>(here));
        to.take(some.size());
        here += some.size();
      }
    }
    ASSERT_TRUE(got == sent) << size;
  }
}

// The same attack on a link without codes shows that it works there.
TEST(AuthenticatedLink, WhatIsForgedOrRepeatedDoesNotCome) {
  const std::string order = "go on, step 7", forged = "stop, step 7.";
  for (const bool has_codes : {false, true})
    for (const bool repeats : {false, true}) {
      Fixture one(kPlain);
      const std::size_t before = one.relay.seen_of_guests().size();
      const auto link_of = [&](Socket socket) -> std::unique_ptr<Link> {
        if (has_codes) return std::make_unique<AuthenticatedLink>(std::move(socket), kControl);
        return std::make_unique<SocketLink>(std::move(socket));
      };
      const auto from = link_of(std::move(one.ends.guest)), to = link_of(std::move(one.ends.host));
      send_whole(*from, bytes_of(order));
      EXPECT_EQ(receive_whole(*to, order.size()), order);
      const std::string record = one.relay.seen_of_guests().substr(before);
      one.relay.forge_to_hosts(repeats ? record : record.substr(0, record.size() - order.size()) + forged);
      if (has_codes)
        EXPECT_THROW(receive_whole(*to, order.size()), GoneError);
      else
        EXPECT_EQ(receive_whole(*to, order.size()), repeats ? order : forged);
    }
}

// Of a short message every byte counts, of a long one the first, and its length.
TEST(AuthenticatedLink, WhatIsAlteredDoesNotCome) {
  std::size_t handshake = 0;
  {
    Fixture one(kPlain);
    handshake = one.relay.seen_of_guests().size();
  }
  constexpr std::size_t kPrefix = sizeof(std::uint32_t) + sizeof(MacCode);
  for (const std::size_t size : {std::size_t{100}, kControl, std::size_t{5000}})
    for (const std::size_t at : {std::size_t{0}, std::size_t{5}, kPrefix, kPrefix + 63, kPrefix + 99}) {
      if (size > kControl && at >= kPrefix + kAuthenticHead) continue;  // only TLS protects that
      Fixture one(kPlain, handshake + at);
      AuthenticatedLink from(std::move(one.ends.guest), kControl), to(std::move(one.ends.host), kControl);
      send_whole(from, bytes_of(std::string(size, 'x')));
      send_whole(from, bytes_of(std::string(2 * kControl, 'y')));  // a changed length may make it wait for more
      send_whole(from, bytes_of(std::string(2 * kControl, 'z')));
      EXPECT_THROW(receive_whole(to, size), GoneError) << size << " bytes, at " << at;
    }
}

}  // namespace
}  // namespace trireme::comm
