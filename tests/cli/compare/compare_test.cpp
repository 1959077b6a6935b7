// `trireme compare` where no other system is needed: mistakes, and files of weights.
#include "cli/program.h"
#include "store/safetensors.h"

namespace trireme::cli_test {
namespace {

class CompareMistakes : public Program {};

TEST_F(CompareMistakes, AreOneSentence) {
  expect_refused({"compare", "--model", "lenet-5"}, {"lenet5"});
  expect_refused({"compare", "--peer", "pytroch"}, {"pytorch"});
  expect_refused({"compare", "--steps", "0"}, {"--steps"});
  expect_refused({"compare", "--python", "/no/such/python"}, {"/no/such/python", "python3-torch"});
  expect_refused({"compare", "--peer", "tensorflow", "--python", "/no/such/python"}, {"tensorflow-cpu"});
  expect_refused({"compare", "--runs", "1"}, {"--runs"});
  expect_refused({"compare", "--margin", "200"}, {"--margin"});
  expect_refused({"compare", "--runs", "3", "--margin", "0"}, {"--margin"});
  expect_refused({"compare", "--runs", "3", "--strategy", "ps:mode=asinc"}, {"asinc"});
  expect_refused({"compare", "--runs", "3", "--workers", "two"}, {"--workers"});
  expect_refused({"compare", "--runs", "3", "--servers", "1", "--strategy", "allreduce"}, {"server"});
  expect_refused({"compare", "--winograd", "maybe"}, {"--winograd"});
  expect_refused({"compare", "--certificate", "no/such/folder/c.json"}, {"no/such/folder/c.json"});
  expect_refused({"compare", "--check", "/no/such/file"}, {"/no/such/file"});
  write(folder() / "text.json", "{}");
  expect_refused({"compare", "--check", (folder() / "text.json").string()}, {"no certificate"});
}

class CompareFiles : public Program {
 protected:
  std::string file(const std::string& name, const std::vector<store::NamedTensor>& tensors) const {
    store::write_safetensors(folder() / name, tensors);
    return (folder() / name).string();
  }
};

TEST_F(CompareFiles, OfTheSameWeights) {
  const store::NamedTensor one{"conv.weight", tensor::Shape({2, 2}), {1, 2, 3, 4}};
  store::NamedTensor other = one;
  other.values[3] = 4.04f;
  const std::string a = file("a.safetensors", {one}), b = file("b.safetensors", {one}),
                    c = file("c.safetensors", {other});
  const Outcome same = run({"compare", "--weights-a", a, "--weights-b", b});
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_NE(same.out.find("1 tensors, 4 values"), std::string::npos) << same.out;
  const Outcome differs = run({"compare", "--weights-a", a, "--weights-b", c});
  EXPECT_EQ(differs.code, 1);
  EXPECT_NE(differs.out.find("conv.weight differs by"), std::string::npos) << differs.out;
  expect_refused({"compare", "--weights-a", a}, {"--weights-b"});
  expect_refused({"compare", "--weights-a", a, "--weights-b", "/no/such.safetensors"}, {"/no/such.safetensors"});
  write(folder() / "weights.h5", "");
  expect_refused({"compare", "--weights-a", a, "--weights-b", (folder() / "weights.h5").string()}, {".npz"});
}

}  // namespace
}  // namespace trireme::cli_test
