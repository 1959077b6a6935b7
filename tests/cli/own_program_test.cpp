// A program of a user's own: its rows are in the lists, and a row that cannot be used ends it with a sentence.
#include <gtest/gtest.h>
#include <trireme/data.h>
#include <trireme/network.h>
#include <trireme/op.h>
#include <trireme/optimizer.h>
#include <trireme/program.h>

#include <string>
#include <vector>

#include "base/system/beside_program.h"

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

// A network that is wrong spoils neither the lists nor the others.
TEST(OwnProgram, ABrokenNetworkIsASentence) {
  trireme::ModelRow no_input = mine(), no_element = mine();
  no_input.name = "no-input";
  no_input.make = [](const trireme::ModelRequest& data) {
    trireme::Network net("no-input");
    net.input("second", data.inputs[1]);
    return net;
  };
  no_element.name = "no-element";
  no_element.make = [](const trireme::ModelRequest&) -> trireme::Network {
    return trireme::Network(std::string("x").substr(7));
  };
  trireme::Program program;
  for (const trireme::ModelRow& row : {no_input, no_element, mine()}) program.add_model(row);
  const std::string why = "the network asks for input 2 of a sample, which has 1 (1x8x8)";
  const Ended list = run(program, {"list", "models"});
  EXPECT_EQ(list.code, 0);
  EXPECT_NE(list.out.find("\nmine "), std::string::npos) << list.out;
  EXPECT_NE(list.err.find("note: no-input cannot be made: " + why), std::string::npos) << list.err;
  for (const std::vector<std::string>& words : {std::vector<std::string>{"model", "show", "no-input"},
                                                {"train", "--model", "no-input", "--data", "synthetic"},
                                                {"bench", "step", "--model", "no-input"}}) {
    const Ended ended = run(program, words);
    EXPECT_EQ(ended.code, 2) << words[0];
    EXPECT_NE(ended.err.find(why), std::string::npos) << ended.err;
  }
  const Ended element = run(program, {"model", "show", "no-element"});
  EXPECT_EQ(element.code, 2);
  EXPECT_NE(element.err.find("model 'no-element' cannot be made"), std::string::npos) << element.err;
}

TEST(OwnProgram, HasNoCounterpartInTensorFlow) {
  trireme::Program program;
  program.add_model(mine());
  const Ended ended = run(
      program, {"compare", "--model", "mine", "--data", "synthetic", "--train-samples", "64", "--peer", "tensorflow"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.err,
            trireme::base::program_name() +
                ": the model 'mine' is this program's own and has no counterpart in TensorFlow; name a network of the "
                "zoo\n");
}

}  // namespace
