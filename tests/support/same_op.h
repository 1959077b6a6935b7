// Whether two ops are equal, as far as their interface tells for given inputs.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "ops/core/op_registry.h"

namespace trireme::support {

inline void expect_same_op(const ops::Op& a, const ops::Op& b, const std::vector<tensor::Shape>& src) {
  EXPECT_EQ(ops::op_text(a), ops::op_text(b));
  EXPECT_EQ(a.output(src), b.output(src));
  EXPECT_EQ(a.is_loss(), b.is_loss());
  EXPECT_EQ(a.statistics_momentum(), b.statistics_momentum());
  EXPECT_EQ(a.cost(src).flops, b.cost(src).flops);
  EXPECT_EQ(a.cost(src).bytes, b.cost(src).bytes);
  const std::vector<ops::ParameterSpec> of_a = a.parameters(src), of_b = b.parameters(src);
  ASSERT_EQ(of_a.size(), of_b.size());
  for (std::size_t i = 0; i < of_a.size(); ++i) {
    EXPECT_EQ(of_a[i].name, of_b[i].name);
    EXPECT_EQ(of_a[i].shape, of_b[i].shape);
    EXPECT_EQ(of_a[i].role, of_b[i].role);
    EXPECT_EQ(of_a[i].fan_in, of_b[i].fan_in);
    EXPECT_EQ(of_a[i].fan_out, of_b[i].fan_out);
  }
}

}  // namespace trireme::support
