#include "tensor/element_type.h"

#include <gtest/gtest.h>

#include <set>

#include "support/core_errors.h"
#include "tensor/layout.h"
#include "tensor/parameter_space.h"
#include "tensor/view.h"

namespace trireme::tensor {
namespace {

constexpr auto kNoType = static_cast<ElementType>(200);  // as a message from elsewhere might hold

template <class F>
void expect_broken(const F& f, const std::string& sentence) {
  const std::string said = support::sentence(base::ErrorKind::internal, f);
  EXPECT_TRUE(support::contains(said, sentence)) << said;
}

TEST(ElementType, EveryTypeHasOneRow) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kElementTypes.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kElementTypes[i].type), i) << "rows come in the order of the enum";
    EXPECT_GT(kElementTypes[i].bytes, 0u);
    EXPECT_TRUE(names.insert(kElementTypes[i].name).second) << kElementTypes[i].name;
  }
  EXPECT_EQ(element_bytes(ElementType::float32), sizeof(float));
  EXPECT_EQ(element_name(ElementType::float32), "float32");
}

TEST(ElementType, ValuesWithoutARowAreNamedAsSuch) {
  EXPECT_EQ(element_type_row(kNoType), kElementTypes.size());
  EXPECT_EQ(element_bytes(kNoType), 0u);
  EXPECT_EQ(element_name(kNoType), "an unknown element type");
}

TEST(ElementType, IsPartOfALayout) {
  const Shape shape{2, 16, 3, 4};
  for (const Layout& layout : {Layout::plain(shape), Layout::channels_blocked(shape, 16), Layout::channels_last(shape),
                               Layout::channels_last(shape, 20)}) {
    EXPECT_EQ(layout.type, ElementType::float32);
    EXPECT_EQ(layout.bytes(), static_cast<std::size_t>(layout.elements()) * sizeof(float));
    Layout other = layout;
    other.type = kNoType;
    EXPECT_FALSE(layout == other);
    EXPECT_FALSE(same_memory(layout, other)) << "a reorder has to convert";
    EXPECT_TRUE(same_memory(other, other));
    // The arrangement stays what it was.
    EXPECT_EQ(other.is_plain(), layout.is_plain());
    EXPECT_EQ(other.channel_block(), layout.channel_block());
    EXPECT_EQ(other.channel_row(), layout.channel_row());
    EXPECT_EQ(other.text(), layout.text() + " an unknown element type");
  }
  EXPECT_EQ(Layout::plain(shape, kNoType).type, kNoType);
  EXPECT_EQ(Layout::channels_blocked(shape, 16, kNoType).type, kNoType);
  EXPECT_EQ(Layout::channels_blocked(shape, 1, kNoType).type, kNoType);
  EXPECT_EQ(Layout::channels_last(shape, 0, kNoType).type, kNoType);
  EXPECT_EQ(Layout::channels_last({2, 3}, 0, kNoType).type, kNoType);
}

// Texts of float32 layouts stand in fingerprints and kernel names of saved runs.
TEST(ElementType, Float32IsNotPartOfALayoutsText) {
  const Shape shape{2, 16, 3, 4};
  EXPECT_EQ(Layout::plain(shape).text(), "plain");
  EXPECT_EQ(Layout::channels_blocked(shape, 8).text(), "blocked:1x8");
  EXPECT_EQ(Layout::channels_last(shape).text(), "channels-last");
  EXPECT_EQ(Layout::channels_last(shape, 20).text(), "strided");
}

TEST(ElementType, CopiesToAndFromPlainAreOfFloat32) {
  float values[6] = {}, copy[6];
  const Layout layout = Layout::plain({2, 3}, kNoType);
  const std::string sentence = "a layout of an unknown element type is copied as float32";
  expect_broken([&] { to_plain(layout, values, copy); }, sentence);
  expect_broken([&] { from_plain(layout, values, copy); }, sentence);
}

TEST(ElementType, ParametersAreFloat32) {
  const Shape shape{3};
  const std::vector<ParameterSpace::Entry> entries = {
      {"fc.bias", ParameterKind::trained, shape, Layout::plain(shape, kNoType)}};
  expect_broken([&] { ParameterSpace space(entries); },
                "parameter 'fc.bias' is of an unknown element type, parameters are kept in float32");
}

TEST(View, IsAFloatPointerWithAType) {
  float values[4] = {1, 2, 3, 4};
  const View view(values);
  const ConstView read = view;
  EXPECT_EQ(view.type, ElementType::float32);
  EXPECT_EQ(read.data, values);
  EXPECT_TRUE(view && read);
  EXPECT_TRUE(view == read);
  view[2] = 7;
  EXPECT_EQ(read[2], 7);
  EXPECT_EQ(*(read + 3), 4);
  EXPECT_FALSE(View() || ConstView());
  EXPECT_TRUE(View() == nullptr);
}

TEST(View, OfAnotherTypeIsNoFloatPointer) {
  float values[4] = {};
  const View view(values, kNoType);
  const ConstView read = view;
  const std::string sentence =
      "a kernel wants elements of type float32, its argument holds an unknown element type (number 200)";
  EXPECT_TRUE(view && read) << "whether it is there can be asked without the type";
  expect_broken([&] { view.floats(); }, sentence);
  expect_broken([&] { read.floats(); }, sentence);
  expect_broken([&] { view[0] = 1; }, sentence);
}

}  // namespace
}  // namespace trireme::tensor
