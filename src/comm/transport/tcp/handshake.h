// The handshake: both sides of a connection prove that they know the job's token without revealing it.
// One caller at a time.
//
//   host  -> guest   "TRIREME" 3, its challenge: 1 if it wants TLS, else 0; 32 random bytes
//   guest -> host    its challenge, HMAC(token, "guest", host's challenge, guest's challenge)
//   host  -> guest   HMAC(token, "host", guest's challenge, host's challenge)
//
// Challenges are new for each connection, so replayed proofs fail; the two proofs differ in their first word, so
// neither can be reflected. A man in the middle who only forwards the handshake learns none of the keys derived from
// it: HMAC(token, NAME, host's challenge, guest's challenge), where NAME is "control of host" and "control of guest"
// for the codes of what each side sends (see mac.h), and "tls" for the TLS session that follows if both sides want it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::comm {

// The protection of connections: equal on all ranks.
struct Secrecy {
  std::string token;
  bool tls = false;
};

using Challenge = std::array<std::byte, 33>;

inline constexpr std::size_t kMagicBytes = 8;
inline constexpr std::size_t kGreetingBytes = kMagicBytes + sizeof(Challenge);
inline constexpr std::size_t kProofBytes = sizeof(Challenge) + sizeof(base::Digest);

// The host's side, one step per function; never waits.
class HostHandshake {
 public:
  explicit HostHandshake(Secrecy secrecy);

  std::array<std::byte, kGreetingBytes> greeting() const;
  // Whether the guest's proof shows that it knows the token.
  bool accepts(std::span<const std::byte, kProofBytes> proof) const;
  base::Digest answer(std::span<const std::byte, kProofBytes> proof) const;
  // REQUIRES: accepts(proof). The keys of control messages; whether the guest has the same TLS setting; the key for
  // TLS.
  MacKeys mac_keys(std::span<const std::byte, kProofBytes> proof) const;
  bool agrees(std::span<const std::byte, kProofBytes> proof) const;
  base::Digest key(std::span<const std::byte, kProofBytes> proof) const;

 private:
  Secrecy secrecy_;
  Challenge challenge_;
};

// The guest's side, likewise.
class GuestHandshake {
 public:
  explicit GuestHandshake(Secrecy secrecy);

  // The answer to a host's greeting; nothing if that is not a greeting of this protocol.
  std::optional<std::array<std::byte, kProofBytes>> proof(std::span<const std::byte, kGreetingBytes> greeting);
  // Whether the host's answer shows that it knows the token, too.
  bool accepts(const base::Digest& answer) const;
  MacKeys mac_keys() const;
  bool agrees() const;
  base::Digest key() const;

 private:
  Secrecy secrecy_;
  Challenge challenge_, theirs_{};
};

// Runs the guest's side on a socket, including keys and TLS. A host with another protocol, token or TLS setting is a
// user error that names `what`.
void authenticate_host(Socket& socket, const Secrecy& secrecy, std::string_view what, std::int64_t deadline_ns);

}  // namespace trireme::comm
