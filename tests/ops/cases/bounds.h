// How far a float kernel may be from the exact result.
//
// u = 2^-24 is the unit roundoff of float: a rounded result is off by at most u times its size. A sum of products made
// in any order, with or without fma, in which no value goes through more than K roundings is off by at most
// K u / (1 - K u) times the sum of the products' absolute values (Higham, Accuracy and Stability, 3.1); as roundings
// go either way, the error stays below 6 sqrt(K) u times that sum except with a chance of about 1e-7 (Higham and Mary
// 2019), so the smaller of the two is used. The sums of absolute values come from the reference itself, run on absolute
// values.
#pragma once

#include "ops/cases/op_case.h"

namespace trireme::optest {

inline constexpr double kUnit = 1.0 / (1 << 24);

// What K roundings can do to a sum of absolute values 1.
double rounding(double roundings);

// The roundings behind each result of an op that is linear in src and in weights.
struct Roundings {
  double dst = 0, diff_src = 0, diff_weights = 0;
};
BoundRule linear(Roundings roundings);
// An op that passes chosen values on (max pooling, ReLU): exact forward, sums of chosen gradients backward.
BoundRule choosing(double diff_src_roundings);
// One value at a time: dst is off by at most `dst` u |dst|, diff_src by `diff_src` u |diff_dst|.
BoundRule elementwise(double dst, double diff_src);
// A convolution by Winograd's algorithm, with that padding.
BoundRule winograd_bound(std::int64_t pad_top, std::int64_t pad_left);
// A convolution over one spatial size by the algorithm of Toom and Cook.
BoundRule toom_cook_bound(std::int64_t taps, std::int64_t padding);
BoundRule batch_norm_bound(double epsilon);
// A batch norm with ReLU (`norm`) and the convolution `conv` behind it, as one op with the parameters of both.
BoundRule norm_conv_bound(double epsilon, ops::OpPtr norm, ops::OpPtr conv);
BoundRule softmax_bound();
BoundRule sigmoid_loss_bound();
BoundRule squared_error_bound();

}  // namespace trireme::optest
