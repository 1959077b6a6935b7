#include "comm/transport/tcp/handshake.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "comm/transport/link/link.h"

namespace trireme::comm {
namespace {

constexpr std::array<char, kMagicBytes> kMagic = {'T', 'R', 'I', 'R', 'E', 'M', 'E', '\3'};

Challenge new_challenge(bool tls) {
  Challenge challenge;
  challenge[0] = static_cast<std::byte>(tls);
  const auto random = std::span(challenge).subspan<1>();
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    base::run_error("the system gives no random bytes: {}", std::strerror(errno));
  return challenge;
}

base::Digest digest_of(std::string_view token, std::string_view what, std::span<const std::byte> first,
                       std::span<const std::byte> second) {
  std::vector<std::byte> text;
  for (const auto part : {std::as_bytes(std::span(what)), first, second})
    text.insert(text.end(), part.begin(), part.end());
  return base::hmac_sha256(token, text);
}

base::Digest mac_key(std::string_view token, Tls::Side sender, const Challenge& host,
                     std::span<const std::byte> guest) {
  return digest_of(token, sender == Tls::Side::host ? "control of host" : "control of guest", host, guest);
}

}  // namespace

HostHandshake::HostHandshake(Secrecy secrecy) : secrecy_(std::move(secrecy)), challenge_(new_challenge(secrecy_.tls)) {}

std::array<std::byte, kGreetingBytes> HostHandshake::greeting() const {
  std::array<std::byte, kGreetingBytes> bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  std::copy(challenge_.begin(), challenge_.end(), bytes.begin() + kMagicBytes);
  return bytes;
}

bool HostHandshake::accepts(std::span<const std::byte, kProofBytes> proof) const {
  base::Digest said{};
  std::copy(proof.begin() + sizeof(Challenge), proof.end(), said.begin());
  return base::equal_secrets(said, digest_of(secrecy_.token, "guest", challenge_, proof.first<sizeof(Challenge)>()));
}

base::Digest HostHandshake::answer(std::span<const std::byte, kProofBytes> proof) const {
  return digest_of(secrecy_.token, "host", proof.first<sizeof(Challenge)>(), challenge_);
}

MacKeys HostHandshake::mac_keys(std::span<const std::byte, kProofBytes> proof) const {
  const auto guest = proof.first<sizeof(Challenge)>();
  return {mac_key(secrecy_.token, Tls::Side::host, challenge_, guest),
          mac_key(secrecy_.token, Tls::Side::guest, challenge_, guest)};
}

bool HostHandshake::agrees(std::span<const std::byte, kProofBytes> proof) const { return proof[0] == challenge_[0]; }

base::Digest HostHandshake::key(std::span<const std::byte, kProofBytes> proof) const {
  return digest_of(secrecy_.token, "tls", challenge_, proof.first<sizeof(Challenge)>());
}

GuestHandshake::GuestHandshake(Secrecy secrecy)
    : secrecy_(std::move(secrecy)), challenge_(new_challenge(secrecy_.tls)) {}

std::optional<std::array<std::byte, kProofBytes>> GuestHandshake::proof(
    std::span<const std::byte, kGreetingBytes> greeting) {
  if (std::memcmp(greeting.data(), kMagic.data(), kMagic.size()) != 0) return std::nullopt;
  std::copy(greeting.begin() + kMagicBytes, greeting.end(), theirs_.begin());
  const base::Digest proof = digest_of(secrecy_.token, "guest", theirs_, challenge_);
  std::array<std::byte, kProofBytes> message{};
  std::copy(proof.begin(), proof.end(), std::copy(challenge_.begin(), challenge_.end(), message.begin()));
  return message;
}

bool GuestHandshake::accepts(const base::Digest& answer) const {
  return base::equal_secrets(answer, digest_of(secrecy_.token, "host", challenge_, theirs_));
}

MacKeys GuestHandshake::mac_keys() const {
  return {mac_key(secrecy_.token, Tls::Side::guest, theirs_, challenge_),
          mac_key(secrecy_.token, Tls::Side::host, theirs_, challenge_)};
}

bool GuestHandshake::agrees() const { return theirs_[0] == challenge_[0]; }

base::Digest GuestHandshake::key() const { return digest_of(secrecy_.token, "tls", theirs_, challenge_); }

void authenticate_host(Socket& socket, const Secrecy& secrecy, std::string_view what, std::int64_t deadline_ns) {
  GuestHandshake handshake(secrecy);
  std::array<std::byte, kGreetingBytes> greeting{};
  receive_all(socket, greeting, deadline_ns);
  const auto proof = handshake.proof(greeting);
  if (!proof)
    base::user_error(
        "{} does not answer as this version of Trireme does; run the same version everywhere, and check the port",
        what);
  send_all(socket, *proof, deadline_ns);
  base::Digest answer{};
  try {
    receive_all(socket, answer, deadline_ns);
  } catch (const GoneError& error) {
    base::user_error("{} did not let us in ({}): the job's token is another one there", what, error.what());
  }
  if (!handshake.accepts(answer)) base::user_error("{} does not know the job's token", what);
  if (!handshake.agrees())
    base::user_error("{} was started {} --tls, this rank {} it; give all ranks the same setting", what,
                     secrecy.tls ? "without" : "with", secrecy.tls ? "with" : "without");
  socket.authenticate(handshake.mac_keys());
  if (!secrecy.tls) return;
  socket.encrypt(Tls::Side::guest, handshake.key());
  shake_hands(socket, deadline_ns);
}

}  // namespace trireme::comm
