// Shapes, and memory that is aligned, zeroed and moved but never copied.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "support/core_errors.h"
#include "tensor/buffer.h"
#include "tensor/shape.h"

namespace trireme::tensor {
namespace {

TEST(Shape, CountsAndText) {
  const Shape image{3, 32, 31};
  EXPECT_EQ(image.rank(), 3);
  EXPECT_EQ(image.count(), 2976);
  EXPECT_EQ(image.count_from(1), 992);
  EXPECT_EQ(image.count_from(3), 1);
  EXPECT_EQ(image.text(), "3x32x31");
  EXPECT_EQ(Shape{}.count(), 1);
  EXPECT_EQ(Shape{}.text(), "scalar");
  EXPECT_EQ((Shape{4, 0, 2}).count(), 0);
  EXPECT_EQ((Shape{100'000, 100'000}).count(), 10'000'000'000);
}

TEST(Shape, BatchInFront) {
  const Shape sample{3, 8};
  EXPECT_EQ(sample.with_batch(5), (Shape{5, 3, 8}));
  EXPECT_EQ(sample.with_batch(5).without_batch(), sample);
  EXPECT_EQ(Shape{}.with_batch(2), Shape{2});
  EXPECT_FALSE((Shape{2, 3}) == (Shape{3, 2}));
  EXPECT_FALSE((Shape{2}) == (Shape{2, 1}));
}

TEST(Buffer, AlignUp) {
  EXPECT_EQ(align_up(0), 0u);
  EXPECT_EQ(align_up(1), 64u);
  EXPECT_EQ(align_up(64), 64u);
  EXPECT_EQ(align_up(65), 128u);
  EXPECT_EQ(align_up(5, 4), 8u);
}

TEST(Buffer, IsAlignedAndZero) {
  const std::size_t large = (std::size_t{2} << 20) + 12;  // beyond one huge page
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4}, std::size_t{64}, std::size_t{1000}, large}) {
    for (int round = 0; round < 3; ++round) {  // the second time the memory was used before
      const Buffer buffer(bytes);
      ASSERT_EQ(buffer.bytes(), bytes);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % kAlignment, 0u);
      ASSERT_TRUE(std::all_of(buffer.data(), buffer.data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
      ASSERT_EQ(buffer.span().size(), bytes / sizeof(float));
      std::fill_n(buffer.data(), bytes, std::byte{0xff});
    }
  }
}

TEST(Buffer, NothingIsNothing) {
  const Buffer none, zero(0);
  EXPECT_EQ(none.bytes(), 0u);
  EXPECT_EQ(zero.bytes(), 0u);
  EXPECT_TRUE(zero.span().empty());
}

TEST(Buffer, Moves) {
  Buffer first(128);
  first.floats()[3] = 7;
  const std::byte* memory = first.data();
  Buffer second(std::move(first));
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(second.floats()[3], 7);
  Buffer third(64);
  third = std::move(second);
  EXPECT_EQ(third.data(), memory);
  EXPECT_EQ(third.bytes(), 128u);
  std::vector<Buffer> many;
  for (int i = 0; i < 100; ++i) {
    many.emplace_back(64);
    many.back().floats()[0] = static_cast<float>(i);
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(many[static_cast<std::size_t>(i)].floats()[0], static_cast<float>(i));
}

TEST(Buffer, ViewsMemoryOfTheCaller) {
  alignas(64) float memory[32];
  std::fill(memory, memory + 32, 2.0f);
  {
    const Buffer view(memory, sizeof memory);
    EXPECT_EQ(view.floats()[31], 2.0f);  // not zeroed
    view.floats()[0] = 1;
  }
  EXPECT_EQ(memory[0], 1.0f);  // not freed
  support::sentence(base::ErrorKind::internal, [&] { Buffer(memory + 1, 64); });
}

TEST(Buffer, TooMuchMemoryIsARunError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer ends the program when memory cannot be had";
#endif
  const std::string text = support::sentence(base::ErrorKind::run, [] { Buffer(std::size_t{1} << 60); });
  EXPECT_TRUE(support::contains(text, std::to_string(std::size_t{1} << 60))) << text;
}

}  // namespace
}  // namespace trireme::tensor
