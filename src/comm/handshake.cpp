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

void greet_host(const Socket& socket, std::string_view token, std::string_view what, std::int64_t deadline_ns) {
  std::array<std::byte, kGreetingBytes> greeting{};
  receive_all(socket, greeting, deadline_ns);
  if (std::memcmp(greeting.data(), kMagic.data(), kMagic.size()) != 0)
    base::user_error("{} is no Trireme of this version: it does not greet as one", what);
  const auto theirs = std::span(greeting).subspan<kMagicBytes>();
  const Challenge own = new_challenge();
  const base::Digest proof = proof_of(token, "guest", theirs, own);
  std::array<std::byte, kProofBytes> message{};
  std::copy(proof.begin(), proof.end(), std::copy(own.begin(), own.end(), message.begin()));
  send_all(socket, message, deadline_ns);
  base::Digest answer{};
  try {
    receive_all(socket, answer, deadline_ns);
  } catch (const GoneError& error) {
    base::user_error("{} did not let us in ({}): the job's token is another one there", what, error.what());
  }
  if (!base::equal_secrets(answer, proof_of(token, "host", own, theirs)))
    base::user_error("{} does not know the job's token", what);
}

}  // namespace trireme::comm
