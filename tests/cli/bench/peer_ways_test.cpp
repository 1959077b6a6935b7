// The search for PyTorch's fastest ways, with runners that only say how long a step takes.
#include "bench/peer/peer_ways.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trireme::bench {
namespace {

class Pretended : public PeerRunner {
 public:
  explicit Pretended(double takes) : takes_(takes) {
    version = "9";
    blas = "mkl";
    optimizer = "fused";
  }
  double seconds_of_step(int) override { return takes_; }

 private:
  double takes_;
};

using Cost = std::function<double(const PeerWay&)>;

FastestWays search(const WaysToTry& ways, const Cost& seconds) {
  return find_fastest_ways(ways, [&](const PeerWay& way) { return std::make_unique<Pretended>(seconds(way)); });
}

WaysToTry all_ways() {
  WaysToTry ways;
  ways.pin = true;
  ways.allocators = {{"jemalloc", "/lib/j"}, {"tcmalloc", "/lib/t"}};
  return ways;
}

TEST(PeerWays, KeepsWhatHelpsAndLeavesWhatDoesNot) {
  const FastestWays found = search(all_ways(), [](const PeerWay& way) {
    return 10.0 - (way.layout == "channels_last" ? 1 : 0) + (way.in_place ? 1 : 0) -
           (way.allocator.name == "tcmalloc" ? 2 : 0) - (way.pinned ? 1 : 0) + (way.compiled ? 3 : 0) -
           (way.dtype == "bf16" ? 4 : 0);
  });
  EXPECT_EQ(found.float32->text(), "channels_last, fused SGD, BLAS mkl, tcmalloc, pinned");
  EXPECT_EQ(found.float32->seconds, 6);
  ASSERT_TRUE(found.bf16);
  EXPECT_EQ(found.bf16->text(), "channels_last, fused SGD, BLAS mkl, bf16, tcmalloc, pinned");
  EXPECT_EQ(found.bf16->seconds, 2);
  EXPECT_EQ(found.why_no_ratio(), "");
}

TEST(PeerWays, CompilesInBothLayouts) {
  const FastestWays found = search(all_ways(), [](const PeerWay& way) {
    const bool last = way.layout == "channels_last";
    return way.compiled ? (last ? 9.0 : 5.0) : (last ? 7.0 : 8.0);
  });
  EXPECT_EQ(found.float32->way.layout, "nchw") << "although channels_last is faster without compiling";
  EXPECT_TRUE(found.float32->way.compiled);
}

TEST(PeerWays, FasterBf16NeverCountsAsFloat32) {
  const FastestWays found = search(all_ways(), [](const PeerWay& way) { return way.is_float32() ? 8.0 : 1.0; });
  EXPECT_EQ(found.float32->way.dtype, "float32");
  EXPECT_EQ(found.float32->seconds, 8);
}

TEST(PeerWays, WhatFailsIsNamedAndTheRestIsTried) {
  const FastestWays found = search(all_ways(), [](const PeerWay& way) -> double {
    if (way.compiled) throw NotAvailable{"no compiler"};
    if (!way.is_float32()) base::run_error("it died");
    return way.pinned ? 4 : 5;
  });
  EXPECT_EQ(found.float32->seconds, 4);
  EXPECT_FALSE(found.bf16);
  int compiled = 0, died = 0;
  for (const TriedWay& one : found.tried) {
    compiled += one.not_available == "no compiler" ? 1 : 0;
    died += one.not_available == "it died" ? 1 : 0;
  }
  EXPECT_EQ(compiled, 1) << "what cannot compile once is not asked again";
  EXPECT_EQ(died, 4) << "two types in two layouts";
}

TEST(PeerWays, ThePlainWayMustRun) {
  EXPECT_THROW(search({}, [](const PeerWay&) -> double { base::run_error("no torch"); }), base::Error);
  EXPECT_THROW(search({}, [](const PeerWay&) -> double { throw NotAvailable{"nothing"}; }), base::Error);
}

TEST(PeerWays, PlainIsOneWay) {
  WaysToTry plain;
  plain.layouts = plain.in_place = plain.compile = plain.bf16 = false;
  EXPECT_EQ(search(plain, [](const PeerWay&) { return 1.0; }).tried.size(), 1u);
}

}  // namespace
}  // namespace trireme::bench
