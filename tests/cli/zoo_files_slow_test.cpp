// Every network of the zoo, exported to a file: training it gives the weights of the network by name.
#include <sstream>

#include "cli/program.h"

namespace trireme::cli_test {
namespace {

class ZooFiles : public Program {
 protected:
  // First words of the lines of `trireme list models` whose second word is a shape.
  Words zoo() const {
    Words names;
    for (const std::string& line : lines_of(run({"list", "models"}).out)) {
      std::istringstream words(line);
      std::string name, input;
      if (words >> name >> input && input.find('x') != std::string::npos && std::isdigit(input[0]))
        names.push_back(name);
    }
    return names;
  }

  std::string weights_after_5_steps(const std::string& model) const {
    fs::remove_all(folder() / "r");
    const Outcome outcome =
        run({"train", "--model", model, "--run", "r", "--data", "synthetic", "--steps", "5", "--train-samples", "16",
             "--test-samples", "4", "--batch", "8", "--oars", "2", "--json"});
    EXPECT_EQ(outcome.code, 0) << model << ": " << outcome.err;
    return outcome.code == 0 ? last_json(outcome)["weights_sha256"].get<std::string>() : "";
  }
};

TEST_F(ZooFiles, TrainToTheSameWeightsAsByName) {
  const Words names = zoo();
  ASSERT_GE(names.size(), 18u);
  for (const std::string& name : names) {
    const Outcome exported = run({"model", "export", name});
    ASSERT_EQ(exported.code, 0) << name << ": " << exported.err;
    write(folder() / "exported.toml", exported.out);
    EXPECT_EQ(weights_after_5_steps(name), weights_after_5_steps("exported.toml")) << name;
  }
}

}  // namespace
}  // namespace trireme::cli_test
