// Hashes: SHA-256 for stored and published digests, HMAC for proving knowledge of a secret, XXH3 for fast checksums and
// keys. Functions are thread-safe; objects: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace trireme::base {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  // The digest in hexadecimal. Call once.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256_hex(std::span<const std::byte> bytes);

using Digest = std::array<std::byte, 32>;
Digest hmac_sha256(std::string_view key, std::span<const std::byte> bytes);
// HMAC with one key, of at most 64 bytes, for many messages; each message is given in parts. One thread at a time.
class Hmac {
 public:
  explicit Hmac(std::span<const std::byte> key);
  ~Hmac();
  Hmac(Hmac&&) noexcept;
  Hmac& operator=(Hmac&&) noexcept;
  Digest of(std::initializer_list<std::span<const std::byte>> parts);

 private:
  struct State;
  std::unique_ptr<State> state_;
};
// Compares in constant time, so the duration does not reveal where they differ.
bool equal_secrets(std::span<const std::byte> a, std::span<const std::byte> b);
std::uint64_t xxh3(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace trireme::base
