// DataSurvey: what a dataset holds, as far as a first experiment depends on it. A plain value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/open_data.h"

namespace trireme::train {

// What one sample is, which decides the family of networks.
enum class SampleKind { image, series, row };

struct DataSurvey {
  data::DataSpec spec;  // of image folders: with the sizes of the survey, not those of the files
  SampleKind kind = SampleKind::row;
  std::int64_t train = 0, test = 0;                       // samples
  std::vector<std::int64_t> train_counts, test_counts{};  // samples per class or label
  // Of image files, a sample of them: shorter and longer side.
  struct Sides {
    std::int64_t shorter = 0, longer = 0;
  };
  Sides smallest{}, median{}, largest{};
  double target_mean = 0, target_deviation = 0;  // of values
};

// Opens the data and looks at it. Data that no single network of one input can learn is a user error.
DataSurvey survey_data(const data::Readers& readers, data::DataRequest request);

}  // namespace trireme::train
