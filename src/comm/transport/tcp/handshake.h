// The handshake: both sides of a connection prove that they know the job's token without showing it.
//
//   host  -> guest   "TRIREME" 3, its challenge: 1 if it wants TLS, else 0; 32 random bytes
//   guest -> host    its challenge, HMAC(token, "guest", host's challenge, guest's challenge)
//   host  -> guest   HMAC(token, "host", guest's challenge, host's challenge)
//
// Challenges are new for each connection, so nothing recorded can be used again; the two proofs differ in their first
// word, so none can be sent back as the other. Who only passed the handshake on knows none of the keys that follow from
// it: HMAC(token, NAME, host's challenge, guest's challenge), where NAME is "control of host" and "control of guest"
// for the codes of what each side sends (see mac.h), and "tls" for sides that want TLS, which go on with that.
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

// What protects connections: the same on all ranks.
struct Secrecy {
  std::string token;
  bool tls = false;
};

using Challenge = std::array<std::byte, 33>;

inline constexpr std::size_t kMagicBytes = 8;
inline constexpr std::size_t kGreetingBytes = kMagicBytes + sizeof(Challenge);
inline constexpr std::size_t kProofBytes = sizeof(Challenge) + sizeof(base::Digest);

// The host's side, piece by piece, without waiting.
class HostHandshake {
 public:
  explicit HostHandshake(Secrecy secrecy);

  std::array<std::byte, kGreetingBytes> greeting() const;
  // What the guest said; whether it knows the token.
  bool accepts(std::span<const std::byte, kProofBytes> proof) const;
  base::Digest answer(std::span<const std::byte, kProofBytes> proof) const;
  // Of one that knows it: the keys of control messages, whether it wants TLS as this side does, and the key for that.
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

  // What to say to a host's greeting; nothing when that is none of ours.
  std::optional<std::array<std::byte, kProofBytes>> proof(std::span<const std::byte, kGreetingBytes> greeting);
  // Whether the host that greeted so knows the token too.
  bool accepts(const base::Digest& answer) const;
  MacKeys mac_keys() const;
  bool agrees() const;
  base::Digest key() const;

 private:
  Secrecy secrecy_;
  Challenge challenge_, theirs_{};
};

// The guest's side from its begin to its end, keys and TLS included. A host that is none of ours, or has another token
// or setting, is a user error that names `what`.
void authenticate_host(Socket& socket, const Secrecy& secrecy, std::string_view what, std::int64_t deadline_ns);

}  // namespace trireme::comm
