#include "train/starter/data_survey.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/readers/images/image_file.h"

namespace trireme::train {
namespace {

constexpr std::int64_t kLookedAt = 100;    // files and rows of which the survey looks at the values
constexpr std::int64_t kShortSeries = 64;  // fewer values in a row are columns
constexpr std::int64_t kMostChannels = 8;  // of a series
constexpr double kSmooth = 0.3;

// The index of the i-th of `few` samples, spread over all.
std::int64_t spread(std::int64_t i, std::int64_t few, std::int64_t all) { return i * all / few; }

void look_at_files(const data::Dataset& set, DataSurvey& survey) {
  std::vector<DataSurvey::Sides> sides;
  bool all_grey = true;
  const std::int64_t few = std::min(kLookedAt, set.size());
  for (std::int64_t i = 0; i < few; ++i) {
    const std::string file = set.origin(spread(i, few, set.size()));
    if (file.empty()) return;
    const data::Image image = data::read_image(file);
    all_grey = all_grey && image.colours == 1;
    sides.push_back({std::min(image.rows, image.columns), std::max(image.rows, image.columns)});
  }
  std::ranges::sort(sides, {}, &DataSurvey::Sides::shorter);
  survey.smallest = sides.front();
  survey.median = sides[sides.size() / 2];
  survey.largest = sides.back();
  if (all_grey) survey.spec.inputs[0] = {1, survey.spec.inputs[0][1], survey.spec.inputs[0][2]};
}

// Whether neighbours in a row are alike, as in a spectrum or a recording. For values in any order, half the squared
// difference of neighbours is on average the variance (von Neumann's ratio).
bool is_smooth(const data::Dataset& set) {
  std::vector<float> row(static_cast<std::size_t>(set.spec().inputs[0].count()));
  std::vector<float> target(static_cast<std::size_t>(data::target_floats(set.spec())));
  float* place = row.data();
  double steps = 0, squares = 0;
  const std::int64_t few = std::min(kLookedAt, set.size());
  for (std::int64_t i = 0; i < few; ++i) {
    set.fetch(spread(i, few, set.size()), {}, std::span(&place, 1), target.data());
    double mean = 0;
    for (const float value : row) mean += value / static_cast<double>(row.size());
    for (std::size_t k = 0; k < row.size(); ++k) {
      squares += (row[k] - mean) * (row[k] - mean);
      if (k > 0) steps += 0.5 * (row[k] - row[k - 1]) * (row[k] - row[k - 1]);
    }
  }
  return steps < kSmooth * squares;
}

SampleKind kind_of(const data::Dataset& set) {
  const tensor::Shape& shape = set.spec().inputs[0];
  // Readers make an image of one colour of channels x length; no image is so low.
  if (shape.rank() == 3) {
    const bool is_series = shape[0] == 1 && shape[1] <= kMostChannels && shape[2] >= kShortSeries;
    return is_series ? SampleKind::series : SampleKind::image;
  }
  if (shape.rank() != 2) return SampleKind::row;
  if (shape[0] > 1) return SampleKind::series;
  return shape[1] >= kShortSeries && is_smooth(set) ? SampleKind::series : SampleKind::row;
}

}  // namespace

DataSurvey survey_data(const data::Readers& readers, data::DataRequest request) {
  request.codecs = readers.codecs;
  const bool is_file = readers.datasets.find(request.name) == nullptr;
  const data::FormatRow* format = nullptr;
  if (is_file)
    for (const data::FormatRow& row : readers.formats.rows())
      if (!format && row.fits(request)) format = &row;
  // Images of any size are brought to one, because the survey needs their number only.
  if (format && format->name == "image folder") request.wanted_inputs = {{3, 32, 32}};
  const data::DataPair pair = data::open_dataset(readers, request);
  DataSurvey survey;
  survey.spec = pair.train->spec();
  if (survey.spec.inputs.size() != 1)
    base::user_error("the samples of '{}' have {} inputs, and init knows networks of one; describe a network in a file",
                     request.name, survey.spec.inputs.size());
  if (survey.spec.target == data::TargetKind::classes && survey.spec.classes < 2)
    base::user_error("'{}' has a single class, so there is nothing to tell apart; give two or more", request.name);
  survey.train = pair.train->size();
  survey.test = pair.test->size();
  survey.train_counts = data::class_counts(*pair.train);
  survey.test_counts = data::class_counts(*pair.test);
  survey.kind = kind_of(*pair.train);
  if (survey.kind == SampleKind::image) look_at_files(*pair.train, survey);
  if (survey.spec.target != data::TargetKind::values) return survey;
  double sum = 0, squares = 0, values = 0;
  data::each_target(*pair.train, [&](std::int64_t, std::span<const float> target) {
    for (const float value : target) sum += value, squares += static_cast<double>(value) * value, ++values;
  });
  survey.target_mean = sum / values;
  survey.target_deviation = std::sqrt(std::max(0.0, squares / values - survey.target_mean * survey.target_mean));
  return survey;
}

}  // namespace trireme::train
