// Encrypted connections: nothing readable goes over the wire, nothing changed on the way is taken, nobody without the
// key talks or listens, and all else is as without encryption.
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <chrono>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/system/clock.h"
#include "comm/ends.h"
#include "comm/transport/tcp/socket_link.h"
#include "comm/worlds.h"
#include "support/receive_frame.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;
using support::receive_frame;

constexpr const char* kToken = "a token of this job";
const Secrecy kEncrypted{kToken, true};

std::vector<std::byte> text_of(const std::string& words, std::size_t times) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < times; ++i)
    for (const char c : words) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

TEST(Tls, NothingReadableIsOnTheWire) {
  for (const bool tls : {false, true}) {
    Fixture one({kToken, tls});
    const auto sent = text_of("attack at dawn, ", 100000);
    std::vector<std::byte> got(sent.size());
    SocketLink from(std::move(one.ends.guest)), to(std::move(one.ends.host));
    for (std::size_t there = 0, here = 0; here < sent.size();) {
      if (there < sent.size()) there += from.send(std::span(sent).subspan(there));
      here += to.receive(std::span(got).subspan(here));
    }
    EXPECT_TRUE(got == sent);
    const std::string seen = one.relay.seen();
    EXPECT_GE(seen.size(), sent.size());
    EXPECT_EQ(seen.find("attack at dawn") != std::string::npos, !tls);
    EXPECT_EQ(seen.find(kHello) != std::string::npos, !tls);
    EXPECT_EQ(seen.find(kToken), std::string::npos);
  }
}

// What ranks and arbiter tell each other.
TEST(Tls, NothingReadableIsOnTheWayToTheArbiter) {
  for (const bool tls : {false, true}) {
    const Address address = free_address();
    Relay relay(address);
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < 2; ++rank)
      ranks.emplace_back([&, rank] {
        JoinOptions options = test_options(rank == 0 ? address : relay.address(), rank, 2);
        options.only_tcp = true;
        options.tls = tls;
        try {
          join(options).barrier();
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      });
    for (std::thread& rank : ranks) rank.join();
    const std::string seen = relay.seen();
    for (const char* words : {"members", "process", "program"})
      EXPECT_EQ(seen.find(words) != std::string::npos, !tls) << words;
  }
}

TEST(Tls, AChangedByteEndsTheConnection) {
  Fixture one(kEncrypted, 20000);
  const auto sent = text_of("attack at dawn, ", 10000);
  std::vector<std::byte> got(sent.size());
  send_all(one.ends.guest, sent, soon());
  try {
    receive_all(one.ends.host, got, soon());
    FAIL() << "a changed byte was taken";
  } catch (const GoneError& error) {
    EXPECT_NE(std::string(error.what()).find("not encrypted with this connection's key"), std::string::npos)
        << error.what();
  }
}

// poll() does not see what was decrypted: who takes little at a time must get all of it.
TEST(Tls, SmallPiecesAndFrames) {
  Fixture one(kEncrypted);
  const auto sent = text_of("piece by piece ", 3000);
  send_all(one.ends.host, sent, soon());
  std::vector<std::byte> got(sent.size());
  for (std::size_t at = 0; at < got.size(); at += 9)
    receive_all(one.ends.guest, std::span(got).subspan(at, std::min<std::size_t>(9, got.size() - at)), soon());
  EXPECT_TRUE(got == sent);
  for (int i = 0; i < 100; ++i) send_frame(one.ends.guest, std::to_string(i), soon());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(receive_frame(one.ends.host, 100, soon()), std::to_string(i));
}

TEST(Tls, AClosedConnectionIsGone) {
  for (const bool closes_host : {false, true}) {
    Fixture one(kEncrypted);
    Socket& closed = closes_host ? one.ends.host : one.ends.guest;
    Socket& open = closes_host ? one.ends.guest : one.ends.host;
    closed = Socket();
    std::array<std::byte, 10> bytes{};
    EXPECT_THROW(receive_all(open, bytes, soon()), GoneError);
    EXPECT_THROW(for (;;) send_all(open, bytes, soon()), GoneError);  // and no signal
  }
}

// Who cannot send any more still gets what was sent to it before, as a rank its verdict.
TEST(Tls, LastWordsAreHeard) {
  Listener listener(listen_on({"127.0.0.1", 0}), kEncrypted);
  Ends ends = connect(listener, kEncrypted, {"127.0.0.1", port_of(listener.listener())});
  send_frame(ends.host, "the verdict", soon());
  ends.host = Socket();
  EXPECT_THROW(for (;;) send_frame(ends.guest, "a beat", soon()), GoneError);
  EXPECT_EQ(receive_frame(ends.guest, 100, soon()), "the verdict");
  EXPECT_THROW(receive_frame(ends.guest, 100, soon()), GoneError);
}

// Two ends without listeners.
struct Pair {
  explicit Pair(int buffer_bytes = 0) {
    int both[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both), 0);
    a = Socket(both[0]);
    b = Socket(both[1]);
    if (buffer_bytes > 0)
      for (const int one : both) setsockopt(one, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
  }
  Socket a, b;
};

void shake(Tls& one, Tls& other) {
  for (int turn = 0; turn < 10; ++turn) {
    const bool is_done = one.shake_hands();
    if (other.shake_hands() && is_done) return;
  }
  FAIL() << "no end of the handshake";
}

// Both ways at once, through a connection that takes little, with a new key after every third record.
TEST(Tls, KeysAreRenewed) {
  const Pair pair(5000);
  const base::Digest key{std::byte{5}};
  Tls host(pair.a.descriptor(), Tls::Side::host, key, 3), guest(pair.b.descriptor(), Tls::Side::guest, key, 3);
  shake(host, guest);
  const auto sent = text_of("there and back ", 40000);
  std::vector<std::byte> there(sent.size()), back(sent.size());
  std::array<std::size_t, 4> done{};
  for (int turn = 0; turn < 1000000 && done[1] + done[3] < 2 * sent.size(); ++turn) {
    done[0] += guest.send(std::span(sent).subspan(done[0]));
    done[1] += host.receive(std::span(there).subspan(done[1]));
    done[2] += host.send(std::span(sent).subspan(done[2]));
    done[3] += guest.receive(std::span(back).subspan(done[3]));
  }
  EXPECT_TRUE(there == sent);
  EXPECT_TRUE(back == sent);
}

TEST(Tls, AnotherKeyIsRefused) {
  const Pair pair;
  Tls host(pair.a.descriptor(), Tls::Side::host, {std::byte{5}}), guest(pair.b.descriptor(), Tls::Side::guest, {});
  EXPECT_FALSE(guest.shake_hands());
  EXPECT_THROW(host.shake_hands(), GoneError);
  EXPECT_THROW(guest.shake_hands(), GoneError);
}

// A host that offers a certificate instead of proving the key.
TEST(Tls, ACertificateIsRefused) {
  const Pair pair;
  EVP_PKEY* secret = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, secret);
  ASSERT_GT(X509_sign(certificate, secret, EVP_sha256()), 0);
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  ASSERT_EQ(SSL_CTX_use_certificate(context, certificate), 1);
  ASSERT_EQ(SSL_CTX_use_PrivateKey(context, secret), 1);
  SSL* host = SSL_new(context);
  SSL_set_fd(host, pair.a.descriptor());
  Tls guest(pair.b.descriptor(), Tls::Side::guest, {std::byte{5}});
  EXPECT_FALSE(guest.shake_hands());
  EXPECT_EQ(SSL_accept(host), -1);
  EXPECT_EQ(SSL_get_error(host, -1), SSL_ERROR_WANT_READ);  // it said what it has to say
  EXPECT_THROW(guest.shake_hands(), GoneError);
  SSL_free(host);
  SSL_CTX_free(context);
  X509_free(certificate);
  EVP_PKEY_free(secret);
}

// One that knows the token, and then says something else, or nothing, has no effect on others.
TEST(Tls, GarbageAfterTheProofIsSentAway) {
  Listener listener(listen_on({"127.0.0.1", 0}), kEncrypted);
  const Address address{"127.0.0.1", port_of(listener.listener())};
  std::vector<Socket> strangers;
  for (const std::size_t garbage : {0, 1, 5, 500, 100000}) {
    const Socket& socket = strangers.emplace_back(connect_to(address, soon()));
    EXPECT_TRUE(listener.accept_authenticated().empty());
    std::array<std::byte, kGreetingBytes> greeting{};
    receive_all(socket, greeting, soon());
    send_all(socket, GuestHandshake(kEncrypted).proof(greeting).value(), soon());
    send_some(socket, std::vector<std::byte>(garbage, std::byte{0xa5}));
  }
  const Ends ends = connect(listener, kEncrypted, address);
  EXPECT_TRUE(ends.host.is_open() && ends.guest.is_open());
  std::array<std::byte, 1000> answer{};
  for (std::size_t i = 2; i < strangers.size(); ++i) EXPECT_THROW(receive_all(strangers[i], answer, soon()), GoneError);
  std::vector<pollfd> polls;
  listener.add_polls(polls);
  EXPECT_EQ(polls.size(), 3u);  // the listener and the two who may still say the right thing
}

// How two ranks with these settings fail to join.
struct Refusal {
  std::string text;
  bool is_user = false;
  double seconds = 0;
};
std::array<Refusal, 2> refusals(const std::function<void(JoinOptions&)>& change) {
  std::array<Refusal, 2> all;
  const Address address = free_address();
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank)
    ranks.emplace_back([&, rank] {
      JoinOptions options = test_options(address, rank, 2);
      options.only_tcp = options.tls = true;
      change(options);
      const std::int64_t start = base::now_ns();
      Refusal& refusal = all[static_cast<std::size_t>(rank)];
      try {
        join(options);
      } catch (const base::Error& error) {
        refusal = {error.what(), error.kind() == base::ErrorKind::user, base::seconds_since(start)};
      }
    });
  for (std::thread& rank : ranks) rank.join();
  return all;
}

TEST(Tls, OnOneSideOnlyIsNamedOnBoth) {
  for (const int odd : {0, 1}) {
    const auto all = refusals([&](JoinOptions& options) { options.tls = options.rank == odd; });
    for (const Refusal& one : all) {
      EXPECT_NE(one.text.find("--tls"), std::string::npos) << one.text;
      EXPECT_NE(one.text.find("give all ranks the same setting"), std::string::npos) << one.text;
      EXPECT_TRUE(one.is_user) << one.text;
      EXPECT_LT(one.seconds, 2) << one.text;
    }
    EXPECT_NE(all[1].text.find(odd == 0 ? "with --tls, this rank without it" : "without --tls, this rank with it"),
              std::string::npos)
        << all[1].text;
  }
}

TEST(Tls, AWrongTokenIsRefused) {
  const auto all = refusals([&](JoinOptions& options) {
    options.join_seconds = 1;
    if (options.rank == 1) options.token = "another token";
  });
  EXPECT_NE(all[1].text.find("the job's token is another one there"), std::string::npos) << all[1].text;
  EXPECT_TRUE(all[1].is_user);
  EXPECT_NE(all[0].text.find("rank 1 of 2 did not come"), std::string::npos) << all[0].text;
}

}  // namespace
}  // namespace trireme::comm
