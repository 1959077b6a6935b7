#include "base/hash.h"

#include <fmt/core.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <xxhash.h>

#include <array>

#include "base/error.h"

namespace trireme::base {

struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  check(state_->context && EVP_DigestInit_ex(state_->context, EVP_sha256(), nullptr) == 1, "OpenSSL has no SHA-256");
}
Sha256::~Sha256() = default;

void Sha256::add(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1, "SHA-256 update failed");
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  check(EVP_DigestFinal_ex(state_->context, digest.data(), &size) == 1, "SHA-256 final failed");
  std::string hex;
  for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.add(bytes);
  return hash.finish();
}

Digest hmac_sha256(std::string_view key, std::span<const std::byte> bytes) {
  Digest digest{};
  unsigned size = 0;
  const auto* made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(bytes.data()),
           bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &size);
  check(made != nullptr && size == digest.size(), "OpenSSL's HMAC gave {} bytes", size);
  return digest;
}

struct Hmac::State {
  EVP_MAC* method = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  EVP_MAC_CTX* context = EVP_MAC_CTX_new(method);
  ~State() {
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(method);
  }
};

Hmac::Hmac(std::span<const std::byte> key) : state_(std::make_unique<State>()) {
  char digest[] = "SHA256";
  const std::array<OSSL_PARAM, 2> settings{OSSL_PARAM_construct_utf8_string("digest", digest, 0),
                                           OSSL_PARAM_construct_end()};
  check(state_->context && EVP_MAC_init(state_->context, reinterpret_cast<const unsigned char*>(key.data()), key.size(),
                                        settings.data()) == 1,
        "OpenSSL has no HMAC with SHA-256");
}
Hmac::~Hmac() = default;
Hmac::Hmac(Hmac&&) noexcept = default;
Hmac& Hmac::operator=(Hmac&&) noexcept = default;

Digest Hmac::of(std::initializer_list<std::span<const std::byte>> parts) {
  Digest digest{};
  std::size_t size = 0;
  bool is_good = EVP_MAC_init(state_->context, nullptr, 0, nullptr) == 1;  // with the key that it has
  for (const auto part : parts)
    is_good = is_good &&
              EVP_MAC_update(state_->context, reinterpret_cast<const unsigned char*>(part.data()), part.size()) == 1;
  is_good = is_good &&
            EVP_MAC_final(state_->context, reinterpret_cast<unsigned char*>(digest.data()), &size, digest.size()) == 1;
  check(is_good && size == digest.size(), "OpenSSL's HMAC gave {} bytes", size);
  return digest;
}

bool equal_secrets(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::uint64_t xxh3(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace trireme::base
