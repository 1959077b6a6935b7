// SHA-256 against the vectors of FIPS 180-4, XXH3 as a key.
#include "base/hash.h"

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

}  // namespace
}  // namespace trireme::base
