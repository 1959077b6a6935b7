// --class-weights: balanced and given ones, scaled to a mean of 1 over the training samples.
#include "train/experiment/class_weights.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "support/core_errors.h"

namespace trireme::train {
namespace {

class Labels : public data::Dataset {
 public:
  explicit Labels(std::vector<float> labels, data::TargetKind target = data::TargetKind::classes)
      : labels_(std::move(labels)), spec_{{{1}}, target, 3, {"cat", "dog", "2,5=x"}} {}
  const data::DataSpec& spec() const override { return spec_; }
  std::int64_t size() const override { return static_cast<std::int64_t>(labels_.size()); }
  void fetch(std::int64_t index, const data::AugmentationSeed&, std::span<float* const> inputs,
             float* target) const override {
    *inputs[0] = 0;
    *target = labels_[static_cast<std::size_t>(index)];
  }

 private:
  std::vector<float> labels_;
  data::DataSpec spec_;
};

const std::string kOption = "--class-weights";

TEST(ClassWeights, BalancedOnesGiveEveryClassTheSameSum) {
  const Labels set({0, 0, 0, 0, 0, 0, 1, 1, 2, 1});
  const std::vector<float> weights = class_weights(kOption, "balanced", set);
  for (const auto& [k, samples] : {std::pair{0u, 6}, {1u, 3}, {2u, 1}})
    EXPECT_FLOAT_EQ(weights[k] * static_cast<float>(samples), 10.0f / 3);
  EXPECT_EQ(class_weights_note(set.spec(), weights), "class weights: cat 0.556, dog 1.11, 2,5=x 3.33");
}

TEST(ClassWeights, AClassWithoutSamplesHasWeightOne) {
  EXPECT_EQ(class_weights(kOption, "balanced", Labels({0, 0, 0, 1})), (std::vector<float>{4 / 6.0f, 2, 1}));
}

TEST(ClassWeights, GivenOnesHaveMeanOne) {
  const Labels set({0, 0, 0, 1});
  EXPECT_EQ(class_weights(kOption, "dog=5", set), (std::vector<float>{0.5, 2.5, 1}));
  EXPECT_EQ(class_weights(kOption, "1=5,0=1", set), (std::vector<float>{0.5, 2.5, 1}));
  EXPECT_EQ(class_weights(kOption, "cat=0", set), (std::vector<float>{0, 4, 1}));
  EXPECT_EQ(class_weights(kOption, "cat=7,dog=7", set), (std::vector<float>{1, 1, 1}));
  EXPECT_TRUE(class_weights(kOption, "none", set).empty());
}

TEST(ClassWeights, MistakesAreSentences) {
  const Labels set({0, 0, 0, 1});
  const auto refused = [&](const std::string& text, const std::string& saying) {
    const std::string sentence =
        support::sentence(base::ErrorKind::user, [&] { (void)class_weights(kOption, text, set); });
    EXPECT_NE(sentence.find(saying), std::string::npos) << text << ": " << sentence;
    EXPECT_NE(sentence.find(kOption), std::string::npos) << sentence;
  };
  refused("dgo=2", "did you mean 'dog'");
  refused("balance", "expected none, balanced, or");
  refused("dog", "NAME=2");
  refused("dog=-1", "-1, expected 0 to");
  refused("dog=nan", "dog");
  refused("dog=", "dog");
  refused("3=1", "there is no class '3'");
  refused("dog=1,1=2", "twice");
  refused("cat=0,dog=0", "weight 0");
  const Labels values({0.5}, data::TargetKind::values);
  EXPECT_NE(support::sentence(base::ErrorKind::user, [&] { (void)class_weights(kOption, "balanced", values); })
                .find("values"),
            std::string::npos);
}

TEST(ClassWeights, AnyTextIsReadOrRefused) {
  const Labels set({0, 0, 1, 2});
  const base::CounterRng rng(2, base::Purpose::probe, 0, 0);
  const std::string letters = "===,,cat012dog.e-+5x";
  for (std::uint64_t i = 0; i < 20000; ++i) {
    std::string text;
    for (std::uint64_t k = 0; k < i % 13; ++k) text += letters[rng.below(13 * i + k, letters.size())];
    try {
      for (const float weight : class_weights(kOption, text, set)) ASSERT_TRUE(weight >= 0 && weight < 1e12) << text;
    } catch (const base::Error& error) {
      ASSERT_EQ(error.kind(), base::ErrorKind::user) << text << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace trireme::train
