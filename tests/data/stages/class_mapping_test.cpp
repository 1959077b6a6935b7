// Classes and labels that get a network's numbers by their names.
#include "data/stages/class_mapping.h"

#include <gtest/gtest.h>

#include "data/dataset/columns.h"
#include "data/helpers.h"
#include "support/core_errors.h"

namespace trireme::data {
namespace {

using Names = std::vector<std::string>;

// Samples with these targets, target_floats() values each.
DatasetPtr with_targets(TargetKind kind, std::int64_t classes, Names names, std::vector<float> targets) {
  DataSpec spec{{{1}}, kind, classes, std::move(names)};
  const auto memory = std::make_shared<const std::vector<float>>(std::move(targets));
  const std::int64_t length = target_floats(spec);
  Columns columns{static_cast<std::int64_t>(memory->size()) / length, {}, {}, memory};
  columns.inputs = {{{1}, ValueType::real, column_data(*memory)}};
  columns.target = {{length}, ValueType::real, column_data(*memory)};
  return column_source(std::move(spec), std::move(columns));
}

std::vector<float> all_targets(const Dataset& set) {
  std::vector<float> all;
  each_target(
      set, [&](std::int64_t, std::span<const float> target) { all.insert(all.end(), target.begin(), target.end()); });
  return all;
}

DataSpec wanted(TargetKind kind, Names names) {
  const auto classes = static_cast<std::int64_t>(names.size());
  return {{{1}}, kind, classes, std::move(names)};
}

TEST(ClassMapping, ClassesByName) {
  const DatasetPtr pets = with_targets(TargetKind::classes, 2, {"dog", "cat"}, {0, 1, 1});
  const DatasetPtr mapped = map_classes(pets, wanted(TargetKind::classes, {"bird", "cat", "dog"}), "pets");
  EXPECT_EQ(all_targets(*mapped), (std::vector<float>{2, 1, 1}));
  EXPECT_EQ(mapped->spec().classes, 3);
  EXPECT_EQ(mapped->spec().class_names, (Names{"bird", "cat", "dog"}));
  EXPECT_EQ(map_classes(pets, pets->spec(), "pets"), pets) << "nothing to do";
}

TEST(ClassMapping, LabelsByName) {
  const DatasetPtr days = with_targets(TargetKind::labels, 2, {"wind", "rain"}, {1, 0, 0, 0, 1, 1});
  const DatasetPtr mapped = map_classes(days, wanted(TargetKind::labels, {"rain", "wind"}), "days");
  EXPECT_EQ(all_targets(*mapped), (std::vector<float>{0, 1, 0, 0, 1, 1}));
  const std::string lacks = support::sentence(base::ErrorKind::user, [&] {
    (void)map_classes(days, wanted(TargetKind::labels, {"rain", "snow", "wind"}), "days");
  });
  EXPECT_TRUE(support::contains(lacks, "lacks") && support::contains(lacks, "'snow'")) << lacks;
}

TEST(ClassMapping, UnknownNamesAreUserErrors) {
  const DatasetPtr zoo = with_targets(TargetKind::classes, 2, {"cat", "yak"}, {0, 1});
  const std::string unknown = support::sentence(base::ErrorKind::user, [&] {
    (void)map_classes(zoo, wanted(TargetKind::classes, {"cat", "dog"}), "zoo");
  });
  EXPECT_TRUE(support::contains(unknown, "'zoo'") && support::contains(unknown, "'yak'")) << unknown;
}

TEST(ClassMapping, WithoutNamesNumbersAreKept) {
  const DatasetPtr numbered = with_targets(TargetKind::classes, 2, {}, {1, 0});
  const DatasetPtr mapped = map_classes(numbered, wanted(TargetKind::classes, {"a", "b", "c"}), "numbered");
  EXPECT_EQ(all_targets(*mapped), (std::vector<float>{1, 0}));
  const std::string many = support::sentence(
      base::ErrorKind::user, [&] { (void)map_classes(numbered, wanted(TargetKind::classes, {"a"}), "numbered"); });
  EXPECT_TRUE(support::contains(many, "2 classes") && support::contains(many, "with 1")) << many;
}

}  // namespace
}  // namespace trireme::data
