// SHA-256 against the vectors of FIPS 180-4, XXH3 as a key.
#include "base/hash.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>

namespace trireme::base {
namespace {

std::string sha(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

TEST(Sha256, KnownVectors) {
  EXPECT_EQ(sha(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesMakeNoDifference) {
  const std::string text(10'000, 'b');
  for (const std::size_t piece : {1u, 63u, 64u, 65u, 9'999u}) {
    Sha256 hash;
    for (std::size_t i = 0; i < text.size(); i += piece) hash.add(std::string_view(text).substr(i, piece));
    EXPECT_EQ(hash.finish(), sha(text)) << piece;
  }
}

TEST(Xxh3, KeysDiffer) {
  std::set<std::uint64_t> keys;
  std::string text;
  for (int i = 0; i < 300; ++i, text += 'x') {
    keys.insert(xxh3(std::as_bytes(std::span(text))));
    keys.insert(xxh3(std::as_bytes(std::span(text)), 1));
  }
  EXPECT_EQ(keys.size(), 600u);
  EXPECT_EQ(xxh3({}), 0x2D06800538D394C2ull);  // XXH3 of nothing, seed 0
}

// RFC 4231, test case 2.
TEST(Hmac, GivesTheKnownDigest) {
  const std::string text = "what do ya want for nothing?";
  const Digest digest = hmac_sha256("Jefe", std::as_bytes(std::span(text)));
  std::string hex;
  for (const std::byte b : digest) hex += fmt::format("{:02x}", std::to_integer<int>(b));
  EXPECT_EQ(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_TRUE(equal_secrets(digest, digest));
  Digest other = digest;
  other[31] ^= std::byte{1};
  EXPECT_FALSE(equal_secrets(digest, other));
}

TEST(Hmac, OfPartsIsThatOfTheWhole) {
  const std::string key = "Jefe", text = "what do ya want for nothing?";
  const auto bytes = std::as_bytes(std::span(text));
  Hmac hmac(std::as_bytes(std::span(key)));
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(hmac.of({bytes}), hmac_sha256(key, bytes));
    EXPECT_EQ(hmac.of({bytes.first(5), {}, bytes.subspan(5)}), hmac_sha256(key, bytes));
  }
}

}  // namespace
}  // namespace trireme::base
