#include "ops/activation/activation.h"
#include "ops/activation/dropout.h"
#include "ops/conv/conv.h"
#include "ops/core/op_registry.h"
#include "ops/dense/dense.h"
#include "ops/loss/loss.h"
#include "ops/merge/flatten.h"
#include "ops/merge/merge.h"
#include "ops/norm/batch_norm.h"
#include "ops/pool/pool.h"

namespace trireme::ops {

OpRegistry builtin_ops() {
  return OpRegistry(
      "op", {conv_row(), dense_row(), batch_norm_row(), relu_row(), tanh_row(), sigmoid_row(), max_pool_row(),
             average_pool_row(), adaptive_average_pool_row(), dropout_row(), flatten_row(), add_row(), concat_row(),
             softmax_cross_entropy_row(), sigmoid_cross_entropy_row(), squared_error_row()});
}

}  // namespace trireme::ops
