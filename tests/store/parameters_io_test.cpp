#include "store/parameters_io.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace trireme::store {
namespace {

using tensor::Layout;
using tensor::ParameterKind;
using tensor::ParameterSpace;
using tensor::Shape;

// The same network in two live layouts; 5 channels in blocks of 8 leave padding, and the grouped kernel's layout has
// one size more than its canonical shape.
ParameterSpace space_of(bool blocked, std::int64_t classes = 3) {
  const Shape kernel{4, 5, 3, 3}, grouped{6, 5, 1, 1}, head{classes, 7};
  const auto layout = [&](const Shape& shape, std::int64_t block) {
    return blocked ? Layout::channels_blocked(shape, block) : Layout::plain(shape);
  };
  return ParameterSpace({{"conv.weight", ParameterKind::trained, kernel, layout(kernel, 8)},
                         {"conv.bias", ParameterKind::trained, {4}, Layout::plain({4})},
                         {"norm.mean", ParameterKind::statistic, {4}, Layout::plain({4})},
                         {"grouped.weight", ParameterKind::trained, grouped, layout({2, 3, 5, 1, 1}, 8)},
                         {"head.weight", ParameterKind::trained, head, layout(head, 16)}});
}

std::vector<NamedTensor> numbered(const ParameterSpace& space) {
  std::vector<NamedTensor> tensors;
  float next = 1;
  for (const auto& range : space.ranges()) {
    NamedTensor tensor{range.name, range.shape, {}};
    for (std::int64_t i = 0; i < range.count(); ++i) tensor.values.push_back(next++);
    tensors.push_back(tensor);
  }
  return tensors;
}

std::string sentence_of(const ParameterSpace& space, const SafetensorsFile& file) {
  std::vector<float> buffer(static_cast<std::size_t>(space.floats()), -1);
  const std::vector<float> before = buffer;
  try {
    import_parameters(space, buffer, file);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::user);
    EXPECT_EQ(buffer, before) << "an import that fails changes nothing";
    return error.what();
  }
  return "";
}

TEST(ParametersIo, RoundTripThroughBlockedLayouts) {
  const ParameterSpace blocked = space_of(true), plain = space_of(false);
  ASSERT_NE(blocked.floats(), plain.floats());
  const SafetensorsFile file{"f", numbered(blocked), {}};
  std::vector<float> live(static_cast<std::size_t>(blocked.floats())), other(static_cast<std::size_t>(plain.floats()));
  import_parameters(blocked, live, file);
  import_parameters(plain, other, file);
  EXPECT_EQ(blocked.sha256(live.data()), plain.sha256(other.data()));
  // conv.weight[o][i][y][x] of the numbered tensors is 1 + its row-major position, wherever it lies in memory.
  const auto& range = blocked.range(0);
  const std::int64_t index[] = {2, 4, 1, 2};
  EXPECT_EQ(live[static_cast<std::size_t>(range.offset + range.layout.offset(index))], 1 + 2 * 45 + 4 * 9 + 1 * 3 + 2);
  const auto exported = export_parameters(blocked, live, "p/");
  ASSERT_EQ(exported.size(), file.tensors.size());
  for (std::size_t i = 0; i < exported.size(); ++i) {
    EXPECT_EQ(exported[i].name, "p/" + file.tensors[i].name);
    EXPECT_EQ(exported[i].shape, file.tensors[i].shape);
    EXPECT_EQ(exported[i].values, file.tensors[i].values);
  }
}

TEST(ParametersIo, PaddingIsZeroAfterAnImport) {
  const ParameterSpace space = space_of(true);
  std::vector<float> live(static_cast<std::size_t>(space.floats()));
  import_parameters(space, live, {"f", numbered(space), {}});
  std::int64_t nonzero = 0, canonical = 0;
  for (const float value : live) nonzero += value != 0;
  for (const auto& range : space.ranges()) canonical += range.count();
  EXPECT_EQ(nonzero, canonical);
}

TEST(ParametersIo, TrainedOnlyLeavesStatisticsOut) {
  const ParameterSpace space = space_of(true);
  std::vector<float> state(static_cast<std::size_t>(space.trained_floats()), 2);
  const auto exported = export_parameters(space, state, "momentum/", Parameters::trained);
  ASSERT_EQ(exported.size(), 4u);
  const SafetensorsFile file{"f", exported, {}};
  std::vector<float> back(state.size());
  import_parameters(space, back, file, "momentum/", Parameters::trained);
  EXPECT_EQ(export_parameters(space, back, "", Parameters::trained)[3].values, std::vector<float>(21, 2));
  EXPECT_THROW((void)export_parameters(space, std::span(state).first(5)), base::Error) << "too small a buffer";
}

TEST(ParametersIo, MismatchesAreNamedAndCounted) {
  const ParameterSpace space = space_of(true);
  SafetensorsFile file{"old.safetensors", numbered(space), {}};
  EXPECT_EQ(sentence_of(space, file), "");

  SafetensorsFile missing = file;
  missing.tensors.erase(missing.tensors.begin() + 1);
  EXPECT_EQ(
      sentence_of(space, missing),
      "this checkpoint is of another network: old.safetensors: it has no 'conv.bias' (1 parameter differs in all)");

  SafetensorsFile extra = file;
  extra.tensors.push_back({"gate", {1}, {1}});
  EXPECT_NE(sentence_of(space, extra).find("it has 'gate', which the network has not"), std::string::npos);

  SafetensorsFile shaped = missing;
  shaped.tensors[0].shape = {5, 4, 3, 3};
  const std::string sentence = sentence_of(space, shaped);
  EXPECT_NE(sentence.find("'conv.weight' is 5x4x3x3, the network's is 4x5x3x3"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("2 parameters differ"), std::string::npos) << sentence;
}

TEST(ParametersIo, MatchingCopiesWhatFits) {
  const ParameterSpace old = space_of(false, 10), now = space_of(true, 3);
  SafetensorsFile file{"f", numbered(old), {}};
  file.tensors.push_back({"gate", {1}, {1}});
  std::vector<float> live(static_cast<std::size_t>(now.floats()), -1);
  const Matching matching = import_matching(now, live, file);
  EXPECT_EQ(matching.copied, (std::vector<std::string>{"conv.weight", "conv.bias", "norm.mean", "grouped.weight"}));
  EXPECT_EQ(matching.skipped, std::vector<std::string>{"head.weight"});
  EXPECT_EQ(matching.unused, (std::vector<std::string>{"gate", "head.weight"}));
  const auto exported = export_parameters(now, live);
  EXPECT_EQ(exported[0].values, file.tensors[0].values);
  EXPECT_EQ(exported[4].values, std::vector<float>(21, -1)) << "the head is left as it was";
}

}  // namespace
}  // namespace trireme::store
