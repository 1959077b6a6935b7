#include "ops/vector/transpose.h"

#include <gtest/gtest.h>

#include <vector>

namespace trireme::ops {
namespace {

TEST(Transpose, TurnsMatricesOfAnySizeAndLeavesTheRestAlone) {
  for (const std::int64_t rows : {0, 1, 3, 4, 7, 16})
    for (const std::int64_t columns : {0, 1, 4, 5, 13}) {
      const std::int64_t from_row = columns + 2, to_row = rows + 3;
      std::vector<float> from(static_cast<std::size_t>(rows * from_row));
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i + 1);
      std::vector<float> to(static_cast<std::size_t>(columns * to_row), -1.0f);
      transpose(from.data(), from_row, rows, columns, to.data(), to_row);
      for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t r = 0; r < to_row; ++r)
          EXPECT_EQ(to[static_cast<std::size_t>(c * to_row + r)],
                    r < rows ? from[static_cast<std::size_t>(r * from_row + c)] : -1.0f)
              << rows << " x " << columns << " at " << r << ", " << c;
    }
}

}  // namespace
}  // namespace trireme::ops
