// Tls: encryption of one connection whose two sides share a key.
// Thread-safe; never waits.
// It is TLS 1.3 with that key instead of certificates, and a Diffie-Hellman exchange, so recorded traffic stays
// unreadable even if the job's token leaks later. A GoneError reports that the connection ended or that bytes were
// changed on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/hash.h"

namespace trireme::comm {

struct TlsSession;

class Tls {
 public:
  enum class Side : std::uint8_t { host, guest };
  static constexpr std::uint64_t kRecordsOfAKey = std::uint64_t{1} << 22;  // AES-GCM allows 2^24.5 per key

  // The caller keeps the descriptor, which must be non-blocking.
  Tls(int descriptor, Side side, const base::Digest& key, std::uint64_t records_of_a_key = kRecordsOfAKey);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  // Continues the handshake; returns whether it is done. Until then, wants_to_write() says for what to wait.
  bool shake_hands();
  bool wants_to_write() const;

  // Sends what the connection takes now. The rest must be offered again unchanged, because its beginning may already be
  // on its way.
  std::size_t send(std::span<const std::byte> bytes);
  // Receives what is there now. If it returns fewer bytes than fit, poll() shows when there is more.
  std::size_t receive(std::span<std::byte> bytes);

 private:
  std::unique_ptr<TlsSession> session_;
};

}  // namespace trireme::comm
