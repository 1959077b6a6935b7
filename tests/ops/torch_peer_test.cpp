// The table of ops against PyTorch: the references against its float64 results, the kernels
// against its float32 results, which round in their own way and so may be off by twice the bound. One subprocess
// answers all cases; torch_ops.py says how the files look.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "ops/cases/kernel_run.h"
#include "support/peer_python.h"

namespace trireme::optest {
namespace {

constexpr double kDeadline = 120;  // seconds
// A float64 result may be off by the float bound scaled from 2^-24 to 2^-53, with room for the reference's own sums.
constexpr double kDoubleAllowance = 64.0 / (1 << 29);

// The values of each tensor of the results, with their names.
struct Result {
  std::string name;
  std::vector<double> values;
};
std::vector<Result> results_of(const std::vector<double>& dst, const std::vector<std::vector<double>>& diff_src,
                               const std::vector<std::vector<double>>& diff_weights) {
  std::vector<Result> all{{"dst", dst}};
  for (std::size_t s = 0; s < diff_src.size(); ++s)
    if (!diff_src[s].empty()) all.push_back({"diff_src " + std::to_string(s), diff_src[s]});
  for (std::size_t p = 0; p < diff_weights.size(); ++p)
    all.push_back({"diff_weights " + std::to_string(p), diff_weights[p]});
  return all;
}
std::vector<double> widened(const std::vector<float>& values) { return {values.begin(), values.end()}; }
std::vector<std::vector<double>> widened(const std::vector<std::vector<float>>& all) {
  std::vector<std::vector<double>> result;
  for (const auto& values : all) result.push_back(widened(values));
  return result;
}

std::string json_of(const Shape& shape) {
  std::string text;
  for (const std::int64_t size : shape.sizes()) text += fmt::format("{}{}", text.empty() ? "" : ", ", size);
  return "[" + text + "]";
}
// The list of what f gives for each element.
template <class List, class F>
std::string json_list(const List& list, const F& f) {
  std::string text;
  for (const auto& element : list) text += (text.empty() ? "" : ", ") + f(element);
  return "[" + text + "]";
}

std::string json_of(const OpCase& c, const CaseData& data) {
  const auto specs = c.op->parameters(c.shapes);
  const auto scale = static_cast<double>(data.exact.run.loss_scale);
  return fmt::format(
      R"({{"name": "{}", {}, "src": {}, "dst": {}, "diff_src": {}, "weights": {}, "statistic": {}, "loss_scale": {}}})",
      c.name, c.torch, json_list(c.shapes, [](const Shape& s) { return json_of(s); }), json_of(c.op->output(c.shapes)),
      json_list(data.exact.diff_src, [](const auto& diff) { return fmt::format("{}", !diff.empty()); }),
      json_list(specs, [](const ops::ParameterSpec& p) { return json_of(p.shape); }),
      json_list(specs, [](const ops::ParameterSpec& p) { return fmt::format("{}", p.is_statistic()); }),
      c.op->is_loss() ? fmt::format("{}", scale) : "null");
}

class TorchAnswers {
 public:
  explicit TorchAnswers(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    for (double value = 0; file.read(reinterpret_cast<char*>(&value), sizeof value);) values_.push_back(value);
  }
  // Compares the next answers with ours.
  void compare(const std::string& what, const std::vector<Result>& ours, const std::vector<Result>& bounds,
               double allowance) {
    ASSERT_EQ(ours.size(), bounds.size());
    for (std::size_t t = 0; t < ours.size(); ++t) {
      ASSERT_LE(used_ + ours[t].values.size(), values_.size()) << what << ": torch gave too few values";
      std::size_t outside = 0;
      for (std::size_t i = 0; i < ours[t].values.size(); ++i) {
        const double torch = values_[used_++], bound = allowance * bounds[t].values[i];
        if (std::abs(ours[t].values[i] - torch) <= bound) continue;
        if (outside++ == 0)
          ADD_FAILURE() << fmt::format("{}: {} at {} is {}, torch has {}, bound {:.3g}", what, ours[t].name, i,
                                       ours[t].values[i], torch, bound);
      }
      EXPECT_EQ(outside, 0u) << what << ": so many of " << ours[t].values.size() << " values of " << ours[t].name;
    }
  }
  bool all_used() const { return used_ == values_.size(); }

 private:
  std::vector<double> values_;
  std::size_t used_ = 0;
};

TEST(Torch, GivesTheSameResults) {
  const std::string python = test::find_python("numpy, torch");
  if (python.empty()) return test::without_peer("neither python3 nor /usr/bin/python3 imports numpy and torch");
  const test::TemporaryFolder folder;
  std::vector<const OpCase*> cases;
  for (const OpCase& c : op_cases())
    if (!c.torch.empty()) cases.push_back(&c);
  {
    std::ofstream index(folder / "cases.json"), values(folder / "data.f64", std::ios::binary);
    const auto write = [&](const std::vector<double>& all) {
      values.write(reinterpret_cast<const char*>(all.data()),
                   static_cast<std::streamsize>(all.size() * sizeof(double)));
    };
    index << json_list(cases, [&](const OpCase* c) {
      const CaseData data = make_data(*c, true);
      for (const auto& src : data.exact.src) write(src);
      for (const auto& weights : data.exact.weights) write(weights);
      write(data.diff_dst);
      return json_of(*c, data);
    });
  }
  const std::string script = std::string(TRIREME_SOURCE_DIR) + "/tests/ops/torch_ops.py";
  const auto finished = test::run_process({python, script, folder.path().string()}, {}, kDeadline);
  ASSERT_FALSE(finished.timed_out) << finished.err;
  ASSERT_EQ(finished.exit_code, 0) << finished.err;

  TorchAnswers answers(folder / "torch.f64");
  for (const OpCase* c : cases) {
    SCOPED_TRACE(c->name);
    const CaseData data = make_data(*c, true), inference = make_data(*c, false);
    const Reference& exact = data.exact;
    const Bounds b = c->bound(*c->op, exact, data.diff_dst);
    const auto bounds = results_of(b.dst, b.diff_src, b.diff_weights);
    answers.compare("reference", results_of(exact.dst, exact.diff_src, exact.diff_weights), bounds, kDoubleAllowance);
    const KernelResult got = run_kernel(*c, data, {.offered = offers(*c)[0].layouts});
    answers.compare("kernel", results_of(widened(got.dst), widened(got.diff_src), widened(got.diff_weights)), bounds,
                    2);
    const Bounds in_use = c->bound(*c->op, inference.exact, inference.diff_dst);
    answers.compare("reference in inference", {{"dst", inference.exact.dst}}, {{"dst", in_use.dst}}, kDoubleAllowance);
  }
  EXPECT_TRUE(answers.all_used()) << "torch gave more values than the cases have";
}

}  // namespace
}  // namespace trireme::optest
