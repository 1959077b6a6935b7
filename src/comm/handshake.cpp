#include "comm/handshake.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "comm/link.h"

namespace trireme::comm {
namespace {

constexpr std::array<char, kMagicBytes> kMagic = {'T', 'R', 'I', 'R', 'E', 'M', 'E', '\1'};

Challenge new_challenge() {
  Challenge challenge;
  if (getrandom(challenge.data(), challenge.size(), 0) != static_cast<ssize_t>(challenge.size()))
    base::run_error("the system gives no random bytes: {}", std::strerror(errno));
  return challenge;
}

base::Digest proof_of(std::string_view token, std::string_view who, std::span<const std::byte> first,
                      std::span<const std::byte> second) {
  std::vector<std::byte> text;
  for (const auto part : {std::as_bytes(std::span(who)), first, second})
    text.insert(text.end(), part.begin(), part.end());
  return base::hmac_sha256(token, text);
}

}  // namespace

HostHandshake::HostHandshake(std::string_view token) : token_(token), challenge_(new_challenge()) {}

std::array<std::byte, kGreetingBytes> HostHandshake::greeting() const {
  std::array<std::byte, kGreetingBytes> bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  std::copy(challenge_.begin(), challenge_.end(), bytes.begin() + kMagicBytes);
  return bytes;
}

bool HostHandshake::accepts(std::span<const std::byte, kProofBytes> proof) const {
  base::Digest said{};
  std::copy(proof.begin() + sizeof(Challenge), proof.end(), said.begin());
  return base::equal_secrets(said, proof_of(token_, "guest", challenge_, proof.first<sizeof(Challenge)>()));
}

base::Digest HostHandshake::answer(std::span<const std::byte, kProofBytes> proof) const {
  return proof_of(token_, "host", proof.first<sizeof(Challenge)>(), challenge_);
}

GuestHandshake::GuestHandshake(std::string_view token) : token_(token), challenge_(new_challenge()) {}

std::optional<std::array<std::byte, kProofBytes>> GuestHandshake::proof(
    std::span<const std::byte, kGreetingBytes> greeting) {
  if (std::memcmp(greeting.data(), kMagic.data(), kMagic.size()) != 0) return std::nullopt;
  std::copy(greeting.begin() + kMagicBytes, greeting.end(), theirs_.begin());
  const base::Digest proof = proof_of(token_, "guest", theirs_, challenge_);
  std::array<std::byte, kProofBytes> message{};
  std::copy(proof.begin(), proof.end(), std::copy(challenge_.begin(), challenge_.end(), message.begin()));
  return message;
}

bool GuestHandshake::accepts(const base::Digest& answer) const {
  return base::equal_secrets(answer, proof_of(token_, "host", challenge_, theirs_));
}

void greet_host(const Socket& socket, std::string_view token, std::string_view what, std::int64_t deadline_ns) {
  GuestHandshake handshake(token);
  std::array<std::byte, kGreetingBytes> greeting{};
  receive_all(socket, greeting, deadline_ns);
  const auto proof = handshake.proof(greeting);
  if (!proof) base::user_error("{} is no Trireme of this version: it does not greet as one", what);
  send_all(socket, *proof, deadline_ns);
  base::Digest answer{};
  try {
    receive_all(socket, answer, deadline_ns);
  } catch (const GoneError& error) {
    base::user_error("{} did not let us in ({}): the job's token is another one there", what, error.what());
  }
  if (!handshake.accepts(answer)) base::user_error("{} does not know the job's token", what);
}

}  // namespace trireme::comm
