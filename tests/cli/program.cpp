#include "cli/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/hash.h"

namespace trireme::cli_test {
namespace {
constexpr double kDeadlineSeconds = 600;  // generous, for sanitizers and PyTorch on a busy machine
}

std::string read(const fs::path& path) { return test::text_of(path); }

void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string documented_network() {
  const std::string page = read(fs::path(TRIREME_SOURCE_DIR) / "docs/network_files.md"), mark = "```toml\n";
  const std::size_t begin = page.find(mark) + mark.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

Json last_json(const Outcome& outcome) {
  const auto lines = lines_of(outcome.out);
  return lines.empty() ? Json() : Json::parse(lines.back(), nullptr, false);
}

void Program::SetUp() {
  binary_ = test::trireme_binary();
  if (binary_.empty()) GTEST_SKIP() << "TRIREME_BINARY does not name the program";
  folder_.emplace();
}

void Program::use_copy_of_program() {
  const fs::path copy = folder() / "trireme";
  fs::copy_file(binary_, copy);
  binary_ = copy.string();
}

Words Program::command(const Words& arguments, const Words& environment) const {
  return Words{"env", "-u", "TRIREME_DATA", "-C", folder().string()} + environment + Words{binary_} + arguments;
}

Outcome Program::run(const Words& arguments, const Words& environment) const {
  const test::Finished finished = test::run_process(command(arguments, environment), {}, kDeadlineSeconds);
  EXPECT_FALSE(finished.timed_out) << "still running after the deadline\n" << finished.out << finished.err;
  return {finished.exit_code, finished.out, finished.err};
}

Json Program::trained(const Words& arguments) const {
  const Outcome outcome = run(Words{"train"} + arguments + Words{"--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  Json json = last_json(outcome);
  EXPECT_TRUE(json.is_object()) << outcome.out;
  return json;
}

void Program::expect_sentence(const Outcome& outcome, int code, const Words& sayings) {
  EXPECT_EQ(outcome.code, code) << outcome.out << outcome.err;
  const auto lines = lines_of(outcome.err);
  ASSERT_EQ(lines.size(), 1u) << outcome.err;
  EXPECT_TRUE(outcome.err.ends_with('\n'));
  EXPECT_TRUE(lines[0].starts_with("trireme: ")) << lines[0];
  EXPECT_EQ(lines[0].find("internal error"), std::string::npos) << lines[0];
  for (const std::string& saying : sayings)
    EXPECT_NE(lines[0].find(saying), std::string::npos) << "'" << saying << "' is not in: " << lines[0];
}

void Program::expect_refused(const Words& arguments, const Words& sayings) const {
  const auto before = snapshot();
  const Outcome outcome = run(arguments);
  expect_sentence(outcome, 2, sayings);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(snapshot(), before);
}

std::vector<std::string> Program::snapshot() const {
  std::vector<std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder())) {
    std::string line = entry.path().string();
    if (entry.is_regular_file()) {
      const std::string content = read(entry.path());
      line += fmt::format(" {:016x}", base::xxh3(std::as_bytes(std::span(content))));
    }
    all.push_back(std::move(line));
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace trireme::cli_test
