// A program of a user's own: its rows are in the lists, and a row that cannot be used ends it with a sentence.
#include <gtest/gtest.h>
#include <trireme/data.h>
#include <trireme/network.h>
#include <trireme/op.h>
#include <trireme/optimizer.h>
#include <trireme/program.h>

#include <string>
#include <vector>

namespace {

trireme::Network make_mine(const trireme::ModelRequest& data) {
  trireme::Network net("mine");
  const auto x = net.add("flatten", trireme::flatten(), {net.input("image", data.inputs[0])});
  net.finish(net.add("fc", trireme::dense({.outputs = data.classes}), {x}), trireme::loss_for(data));
  return net;
}

trireme::ModelRow mine() { return {.name = "mine", .summary = "one layer", .inputs = {{1, 8, 8}}, .make = make_mine}; }

struct Ended {
  int code;
  std::string out, err;
};

Ended run(trireme::Program& program, std::vector<std::string> words) {
  words.insert(words.begin(), "mine");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = program.run(static_cast<int>(arguments.size()), arguments.data());
  const std::string out = testing::internal::GetCapturedStdout();
  return {code, out, testing::internal::GetCapturedStderr()};
}

TEST(OwnProgram, ListsItsRowsBesideTheOthers) {
  trireme::Program program;
  program.add_model(mine());
  program.add_op({.name = "my-op", .summary = "a relu", .make = [](trireme::Spec&) { return trireme::relu(); }});
  program.add_dataset({.name = "my-data", .summary = "none", .open = [](const auto&) { return trireme::DataPair{}; }});
  const auto lists = [&](const char* what, const std::string& own, const std::string& other) {
    const Ended list = run(program, {"list", what});
    EXPECT_EQ(list.code, 0) << list.err;
    for (const std::string& name : {own, other})
      EXPECT_NE(("\n" + list.out).find("\n" + name + " "), std::string::npos) << name << " in " << list.out;
  };
  lists("models", "mine", "lenet5");
  lists("ops", "my-op", "conv");
  lists("datasets", "my-data", "cifar10");
}

TEST(OwnProgram, RefusesRowsThatCannotBeUsed) {
  const auto refused = [](const trireme::ModelRow& row, const std::string& why) {
    trireme::Program program;
    program.add_model(mine());
    program.add_model(row);
    const Ended ended = run(program, {"list", "models"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_NE(ended.err.find(why), std::string::npos) << ended.err;
  };
  refused(mine(), "adds the model 'mine', but there is one of that name");
  trireme::ModelRow row = mine();
  row.name = "lenet5";
  refused(row, "adds the model 'lenet5', but there is one of that name");
  row = mine();
  row.name = "";
  refused(row, "a model without a name");
  row = mine();
  row.make = nullptr;
  refused(row, "no function that makes it");
  row = mine();
  row.inputs.clear();
  refused(row, ".inputs = {{1, 28, 28}}");
  row = mine();
  row.classes = 0;
  refused(row, "0 classes");
}

TEST(OwnProgram, HasNoCounterpartInTensorFlow) {
  trireme::Program program;
  program.add_model(mine());
  const Ended ended = run(
      program, {"compare", "--model", "mine", "--data", "synthetic", "--train-samples", "64", "--peer", "tensorflow"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(
      ended.err,
      "trireme: the model 'mine' is this program's own and has no counterpart in TensorFlow; name a network of the "
      "zoo\n");
}

}  // namespace
