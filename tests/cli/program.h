// Runs the real program as a user does: a subprocess in a folder of its own, with a deadline. What it prints and how it
// ends is what is tested. The program is named by the environment variable TRIREME_BINARY; without it tests are
// skipped.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/process.h"

namespace trireme::cli_test {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;

struct Outcome {
  int code = -1;
  std::string out, err;
};

std::string read(const fs::path& path);
void write(const fs::path& path, const std::string& text);
std::vector<std::string> lines_of(const std::string& text);
Words operator+(Words words, const Words& more);

// The network of docs/network_files.md: two inputs, residual blocks.
std::string documented_network();

// The summary that --json prints as the last line of standard output.
Json last_json(const Outcome& outcome);

// Small enough that a run takes a fraction of a second: 4 steps an epoch, 2 oars.
inline const Words kSmall{"--model", "lenet5",         "--data", "synthetic", "--train-samples",
                          "64",      "--test-samples", "32",     "--batch",   "16"};
// The same with a learning rate that does not depend on how long the run is.
inline const Words kSteady = kSmall + Words{"--schedule", "constant"};

class Program : public testing::Test {
 protected:
  void SetUp() override;

  const fs::path& folder() const { return folder_->path(); }
  // Runs in folder(), without TRIREME_DATA; `environment` holds NAME=VALUE.
  Outcome run(const Words& arguments, const Words& environment = {}) const;
  // From now on run() starts a copy of the program that lies in folder().
  void use_copy_of_program();
  // What run() starts, for tests that do something to the process.
  Words command(const Words& arguments, const Words& environment = {}) const;
  Outcome train(const Words& arguments) const { return run(Words{"train"} + kSmall + arguments); }
  // A run that must succeed; returns its summary.
  Json trained(const Words& arguments) const;

  // A user's mistake: exit code 2, one line on standard error with all these words, nothing on standard output, and
  // every file in folder() as it was.
  void expect_refused(const Words& arguments, const Words& sayings) const;
  // The same, without looking at files.
  static void expect_sentence(const Outcome& outcome, int code, const Words& sayings);

  // Every file and folder below folder(), with the content's hash.
  std::vector<std::string> snapshot() const;

 private:
  std::string binary_;
  std::optional<test::TemporaryFolder> folder_;
};

}  // namespace trireme::cli_test
