// Scores against sklearn.metrics on random predictions.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "base/system/files.h"
#include "support/peer_python.h"
#include "support/temporary_folder.h"
#include "train/evaluation/scores.h"

namespace trireme::train {
namespace {

using ScoreJson = nlohmann::json;

constexpr std::int64_t kSamples = 201, kWidth = 3;
constexpr const char* kScript = R"(
import json, sys, numpy
from sklearn import metrics as m
given = json.load(open(sys.argv[1]))
y, p = (numpy.array(given[name]).reshape(-1, 3) for name in ("targets", "outputs"))
t, q = y > 0.5, p >= 0
json.dump({"mae": m.mean_absolute_error(y, p), "rmse": m.mean_squared_error(y, p) ** 0.5, "r2": m.r2_score(y, p),
           "each_r2": m.r2_score(y, p, multioutput="raw_values").tolist(),
           "f1_micro": m.f1_score(t, q, average="micro"), "f1_macro": m.f1_score(t, q, average="macro"),
           "exact_match": m.accuracy_score(t, q)}, open(sys.argv[2], "w"))
)";

TEST(Scores, AreThoseOfScikitLearn) {
  const std::string python = test::find_python("sklearn");
  if (python.empty()) return test::without_peer("neither python3 nor /usr/bin/python3 imports sklearn");
  const test::TemporaryFolder folder;
  const base::CounterRng rng(5, base::Purpose::probe, 0, 0);
  std::vector<float> outputs, targets;
  for (std::uint64_t i = 0; i < kSamples * kWidth; ++i) {
    targets.push_back(rng.uniform(2 * i) < 0.3f ? 1.0f : 0.0f);
    outputs.push_back(targets.back() - 0.5f + 1.5f * (rng.uniform(2 * i + 1) - 0.5f));
  }
  const auto in = (folder.path() / "in.json").string(), out = (folder.path() / "out.json").string();
  base::write_text_atomically(in, ScoreJson{{"targets", targets}, {"outputs", outputs}}.dump());
  const auto finished = test::run_process({python, "-c", kScript, in, out});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  const ScoreJson peer = ScoreJson::parse(base::read_text(out));
  for (const data::TargetKind target : {data::TargetKind::values, data::TargetKind::labels}) {
    const data::DataSpec spec{{{1}}, target, kWidth, {}};
    std::vector<double> sums(score_sums(spec));
    sum_scores(spec, {}, kSamples, outputs, targets, sums);
    const Scores scores = scores_of(spec, sums);
    for (const observe::Score& score : scores.named())
      EXPECT_NEAR(score.value, peer[score.name].get<double>(), 1e-9) << score.name;
    for (std::size_t k = 0; k < scores.values.size(); ++k)
      EXPECT_NEAR(scores.values[k].r2.value(), peer["each_r2"][k].get<double>(), 1e-9);
  }
}

}  // namespace
}  // namespace trireme::train
