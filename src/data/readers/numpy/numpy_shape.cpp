#include "data/readers/numpy/numpy_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace trireme::data {
namespace {

using tensor::Shape;

void check_finite(const NumpyArray& array) {
  if (array.type == ValueType::byte) return;
  const auto bad = std::find_if_not(array.reals.begin(), array.reals.end(), [](float v) { return std::isfinite(v); });
  if (bad == array.reals.end()) return;
  const auto per_sample = static_cast<std::ptrdiff_t>(array.shape.count_from(1));
  base::user_error("{}: sample {} holds {}; remove such samples or replace the values before saving", array.where,
                   (bad - array.reals.begin()) / per_sample, *bad);
}

// Moves the last dimension to the front.
Shape channels_first(const Shape& sample) {
  std::vector<std::int64_t> sizes(sample.sizes().begin(), sample.sizes().end());
  std::rotate(sizes.begin(), sizes.end() - 1, sizes.end());
  return Shape(std::move(sizes));
}

bool looks_channels_last(const Shape& sample) {
  if (sample.rank() != 3) return false;
  const std::int64_t channels = sample[2];
  const bool usual = channels == 1 || channels == 3 || channels == 4;
  return usual && sample[0] > channels && sample[1] > channels;
}

void move_channels(NumpyArray& array, std::vector<std::string>& notes) {
  const Shape was = array.shape.without_batch();
  std::vector<int> order{0, array.shape.rank() - 1};
  for (int i = 1; i + 1 < array.shape.rank(); ++i) order.push_back(i);
  reorder(array, order);
  notes.push_back(fmt::format("{}: samples of {} have their channels last; they were moved to the front: {}",
                              array.where, was.text(), array.shape.without_batch().text()));
}

// The shape of a sample if the network does not prescribe one.
Shape usual_shape(const Shape& sample, const std::string& where) {
  if (sample.rank() == 1) return {1, sample[0]};
  if (sample.rank() == 2) return {1, sample[0], sample[1]};
  if (sample.rank() == 3) return sample;
  base::user_error("{} has samples of {}; expected at most 3 sizes: channels, height, width", where, sample.text());
}

// True if `from` may be reshaped to `to`: equal except for dimensions of size 1, or one of them is flat.
bool may_become(const Shape& from, const Shape& to) {
  const auto without_ones = [](const Shape& shape) {
    std::vector<std::int64_t> sizes(shape.sizes().begin(), shape.sizes().end());
    std::erase(sizes, 1);
    return sizes;
  };
  const auto a = without_ones(from), b = without_ones(to);
  return from.count() == to.count() && (a == b || a.size() <= 1 || b.size() <= 1);
}

}  // namespace

void shape_input(NumpyArray& array, const Shape* wanted, std::vector<std::string>& notes) {
  if (array.shape.rank() < 2)
    base::user_error("{} is of shape {}; expected samples x values, for one value per sample x.reshape(-1, 1)",
                     array.where, array.shape.text());
  check_finite(array);
  const Shape sample = array.shape.without_batch();
  const std::int64_t samples = array.shape[0];
  if (wanted && sample == *wanted) return;
  const bool rank_moves = sample.rank() == 2 || sample.rank() == 3;
  const bool fits_moved = wanted && rank_moves && channels_first(sample) == *wanted;
  if (fits_moved || looks_channels_last(sample)) move_channels(array, notes);
  const Shape now = array.shape.without_batch();
  if (wanted && may_become(now, *wanted))
    array.shape = wanted->with_batch(samples);
  else if (wanted && wanted->rank() == 2 && now.rank() == 2)
    return;  // channels x length; the network was built for another length
  else
    array.shape = usual_shape(now, array.where).with_batch(samples);
}

void shape_target(NumpyArray& array, TargetKind kind) {
  const int rank = array.shape.rank();
  if (rank < 1 || rank > 2)
    base::user_error("{} is of shape {}; expected targets of samples, or samples x values", array.where,
                     array.shape.text());
  if (rank == 1) array.shape = {array.shape[0], 1};
  if (kind == TargetKind::classes && array.shape[1] != 1)
    base::user_error(
        "{} is of shape {}; expected one class number per sample: save y.argmax(1) of one-hot rows, or ask for "
        "--target labels or values",
        array.where, array.shape.text());
  check_finite(array);
}

}  // namespace trireme::data
