#include "data/stages/normalize.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/error.h"
#include "base/text/nearest.h"
#include "data/dataset/columns.h"
#include "data/dataset/table_schema.h"

namespace trireme::data {
namespace {

constexpr int kSumLanes = 8;

std::size_t channels_of(const tensor::Shape& shape) {
  return shape.rank() == 0 ? 1 : static_cast<std::size_t>(shape[0]);
}

// Sums of one input over the set, per channel or per value.
struct Sums {
  std::vector<double> sum, square;
};

// Adds in eight lanes that are combined in a fixed order: fast, and the same bits on every machine.
void add_plane(const float* values, std::size_t count, double& sum, double& square) {
  std::array<double, kSumLanes> s{}, q{};
  std::size_t i = 0;
  for (; i + kSumLanes <= count; i += kSumLanes)
    for (std::size_t lane = 0; lane < kSumLanes; ++lane) {
      const double v = static_cast<double>(values[i + lane]);
      s[lane] += v;
      q[lane] += v * v;
    }
  for (std::size_t lane = 0; i < count; ++i, ++lane) {
    const double v = static_cast<double>(values[i]);
    s[lane] += v;
    q[lane] += v * v;
  }
  for (std::size_t lane = 0; lane < kSumLanes; ++lane) {
    sum += s[lane];
    square += q[lane];
  }
}

// Whole numbers: exact in any order. The sum of squares of a block fits 32 bits.
void add_plane(const std::uint8_t* values, std::size_t count, double& sum, double& square) {
  constexpr std::size_t kBlock = 32768;
  for (std::size_t done = 0; done < count; done += kBlock) {
    std::uint32_t s = 0, q = 0;
    for (std::size_t i = done, end = std::min(count, done + kBlock); i < end; ++i) {
      const std::uint32_t v = values[i];
      s += v;
      q += v * v;
    }
    sum += s;
    square += q;
  }
}

template <class T>
void add_values(const T* values, std::size_t count, bool per_value, Sums& sums) {
  const std::size_t plane = sums.sum.empty() ? 0 : count / sums.sum.size();
  if (per_value)
    for (std::size_t k = 0; k < count; ++k) {
      const auto v = static_cast<double>(values[k]);
      sums.sum[k] += v;
      sums.square[k] += v * v;
    }
  else
    for (std::size_t c = 0; c < sums.sum.size(); ++c) add_plane(values + c * plane, plane, sums.sum[c], sums.square[c]);
}

// One pass over the set. per_value[i]: a sum for every value of input i instead of one per channel.
std::vector<Sums> sum_dataset(const Dataset& source, const std::vector<bool>& per_value) {
  const auto& shapes = source.spec().inputs;
  std::vector<Sums> sums(shapes.size());
  std::vector<std::vector<float>> sample(shapes.size());
  std::vector<float*> inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    sample[i].resize(static_cast<std::size_t>(shapes[i].count()));
    inputs.push_back(sample[i].data());
    const std::size_t groups = per_value[i] ? sample[i].size() : channels_of(shapes[i]);
    sums[i].sum.resize(groups);
    sums[i].square.resize(groups);
  }
  std::vector<float> target(static_cast<std::size_t>(target_floats(source.spec())));
  std::array<StoredValues, kMaxInputs> stored{};
  base::check(shapes.size() <= kMaxInputs, "{} inputs, at most {}", shapes.size(), kMaxInputs);
  for (std::int64_t index = 0; index < source.size(); ++index) {
    const bool viewed = source.view(index, stored, target.data());
    if (!viewed) source.fetch(index, AugmentationSeed{}, inputs, target.data());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      if (viewed && stored[i].type == ValueType::byte)
        add_values(reinterpret_cast<const std::uint8_t*>(stored[i].data), sample[i].size(), per_value[i], sums[i]);
      else
        add_values(viewed ? reinterpret_cast<const float*>(stored[i].data) : sample[i].data(), sample[i].size(),
                   per_value[i], sums[i]);
    }
  }
  return sums;
}

using Inputs = std::vector<InputNormalization>;

Inputs make_scale(const Dataset& source) {
  Inputs inputs;
  for (const tensor::Shape& shape : source.spec().inputs)
    inputs.push_back({std::vector<float>(channels_of(shape), 0.0f), std::vector<float>(channels_of(shape), 255.0f)});
  return inputs;
}

Inputs make_mean(const Dataset& source) {
  std::vector<bool> per_value;
  for (const tensor::Shape& shape : source.spec().inputs) per_value.push_back(channels_of(shape) == 1);
  const std::vector<Sums> sums = sum_dataset(source, per_value);
  Inputs inputs(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto values = static_cast<double>(source.spec().inputs[i].count()) * static_cast<double>(source.size());
    for (const double sum : sums[i].sum)
      inputs[i].mean.push_back(static_cast<float>(sum / (values / static_cast<double>(sums[i].sum.size()))));
    inputs[i].divisor.assign(inputs[i].mean.size(), 255.0f);
  }
  return inputs;
}

Inputs make_standard(const Dataset& source) {
  const std::vector<bool> per_value(source.spec().inputs.size(), source.spec().table);
  const std::vector<Sums> sums = sum_dataset(source, per_value);
  Inputs inputs(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double per_sample =
        static_cast<double>(source.spec().inputs[i].count()) / static_cast<double>(sums[i].sum.size());
    const double n = per_sample * static_cast<double>(source.size());
    for (std::size_t c = 0; c < sums[i].sum.size(); ++c) {
      const double mean = sums[i].sum[c] / n;
      const double variance = sums[i].square[c] / n - mean * mean;
      inputs[i].mean.push_back(static_cast<float>(mean));
      // A constant channel is not scaled. The bound also catches a variance that is only rounding error.
      const bool constant = !(variance > 1e-12 * (1e-12 + mean * mean));
      inputs[i].divisor.push_back(constant ? 1.0f : static_cast<float>(__builtin_sqrt(variance)));
    }
  }
  return inputs;
}

// The inputs of a category stay 0 and 1: dividing by the deviation of a rare word would make it huge.
void keep_categories(const DataSpec& spec, Inputs& inputs) {
  if (!spec.schema || inputs.size() != 1) return;
  InputNormalization& input = inputs[0];
  const auto values = static_cast<std::size_t>(spec.inputs[0].count());
  const auto is_category = [](const TableColumn& column) { return !column.words.empty(); };
  if (std::ranges::none_of(spec.schema->inputs, is_category)) return;
  for (std::vector<float>* numbers : {&input.mean, &input.divisor}) {  // one per channel becomes one per value
    const std::vector<float> groups = *numbers;
    if (groups.empty() || values % groups.size() != 0) return;
    numbers->resize(values);
    for (std::size_t k = 0; k < values; ++k) (*numbers)[k] = groups[k / (values / groups.size())];
  }
  std::size_t at = 0;
  for (const TableColumn& column : spec.schema->inputs) {
    const std::size_t words = column.words.size();
    std::fill_n(input.mean.begin() + static_cast<std::ptrdiff_t>(at), words, 0.0f);
    std::fill_n(input.divisor.begin() + static_cast<std::ptrdiff_t>(at), words, 1.0f);
    at += std::max<std::size_t>(1, words);
  }
}

struct NormalizationKind {
  const char* name;
  Inputs (*make)(const Dataset& source);
};
constexpr std::array kNormalizations = {NormalizationKind{"standard", make_standard},
                                        NormalizationKind{"mean", make_mean}, NormalizationKind{"scale", make_scale},
                                        NormalizationKind{"none", nullptr}};

}  // namespace

std::vector<std::string> normalization_kinds() {
  std::vector<std::string> names;
  for (const NormalizationKind& kind : kNormalizations) names.emplace_back(kind.name);
  return names;
}

Normalization compute_normalization(const DatasetPtr& source, std::string_view kind) {
  if (const Columns* columns = source->columns())
    for (const Normalization& known : columns->normalizations)
      if (known.kind == kind) return known;
  for (const NormalizationKind& known : kNormalizations)
    if (kind == known.name) {
      Inputs inputs = known.make ? known.make(*source) : Inputs{};
      keep_categories(source->spec(), inputs);
      return {std::string(kind), std::move(inputs)};
    }
  base::user_error("{}", base::unknown_name("normalization", kind, normalization_kinds()));
}

}  // namespace trireme::data
