// Man pages and completions: everything that --help knows stands in them, and the shells complete with them.
#include <fmt/core.h>

#include <algorithm>

#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/help/option_values.h"
#include "cli/program.h"
#include "support/core_errors.h"
#include "train/builtin_registry.h"

namespace trireme::cli_test {
namespace {

using support::contains;

const train::Registry kRegistry = train::builtin_registry();

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The text of a page on one line, as a reader sees it.
std::string plain(std::string page) {
  const std::vector<std::pair<const char*, const char*>> all{
      {"\\fB", ""},   {"\\fI", ""},   {"\\fR", ""},   {"\\&", ""}, {"\\-", "-"}, {"\\(aq", "'"},
      {"\\(ti", "~"}, {"\\(ha", "^"}, {"\\(ga", "`"}, {"\n", " "}, {"\\e", "\\"}};
  for (const auto& [from, to] : all) page = replaced(page, from, to);
  return page;
}

class Manual : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    const Outcome outcome = run({"manual", folder().string()});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }

  std::string page(const std::string& name) const { return read(folder() / "man1" / (name + ".1")); }

  static bool installed(const std::string& program) {
    return test::run_process({"sh", "-c", "command -v " + program}).exit_code == 0;
  }

  // What bash offers behind these words.
  Words bash(const Words& words) const {
    std::string array;
    for (const std::string& word : words) array += fmt::format("'{}' ", word);
    const test::Finished finished =
        test::run_process({"bash", "-c",
                           fmt::format("cd {0}; source {0}/bash/trireme; COMP_WORDS=({1}) COMP_CWORD={2}; _trireme; "
                                       "printf '%s\\n' \"${{COMPREPLY[@]}}\"",
                                       folder().string(), array, words.size() - 1)});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_EQ(finished.err, "");
    Words lines = lines_of(finished.out);
    std::erase(lines, "");
    return lines;
  }

  // The line that tab in zsh makes of this one.
  std::string zsh(const std::string& line) const {
    const test::Finished finished = test::run_process(
        {"zsh", "-f", std::string(TRIREME_SOURCE_DIR) + "/tests/cli/complete.zsh", (folder() / "zsh").string(), line},
        {"TERM=dumb"}, 60);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.last_line();
  }
};

TEST_F(Manual, EveryVerbStandsInTheProgramsPage) {
  const std::string text = plain(page("trireme"));
  for (const cli::Verb& verb : cli::verbs(kRegistry)) {
    EXPECT_TRUE(contains(text, std::string("trireme-") + verb.name + "(1) " + verb.summary)) << verb.name;
    EXPECT_TRUE(fs::exists(folder() / "man1" / (std::string("trireme-") + verb.name + ".1"))) << verb.name;
  }
  EXPECT_TRUE(contains(text, cli::kSummary));
}

TEST_F(Manual, EveryLineOfTheHelpStandsInTheVerbsPage) {
  for (const cli::Verb& verb : cli::verbs(kRegistry)) {
    const std::string text = plain(page(std::string("trireme-") + verb.name));
    for (const base::OptionSpec& option : verb.options) {
      const std::string value = option.value[0] == '\0' ? "" : std::string(" ") + option.value;
      EXPECT_TRUE(contains(text, fmt::format("--{}{} {}", option.name, value, cli::help_text(verb, option))))
          << verb.name << " --" << option.name;
      EXPECT_TRUE(contains(text, std::string(".SS ") + option.group)) << option.group;
    }
    for (const std::string& line : lines_of(verb.examples))
      if (line.starts_with("  ")) {
        EXPECT_TRUE(contains(text, line.substr(2))) << line;
      }
    // The program's own words, whatever they come from.
    for (const std::string& line : lines_of(run({verb.name, "--help"}).out))
      if (const std::size_t at = line.find("--"); at == 2) {
        EXPECT_TRUE(contains(text, line.substr(2, line.find(' ', 2) - 2))) << line;
      }
  }
}

TEST_F(Manual, ThePagesHaveNoMistakesOfRoff) {
  int checkers = 0;
  for (const auto& entry : fs::directory_iterator(folder() / "man1"))
    for (const auto& [program, words] : {std::pair{"mandoc", Words{"mandoc", "-Tlint", "-Wall"}},
                                         std::pair{"man", Words{"man", "--warnings", "-l"}}}) {
      if (!installed(program)) continue;
      ++checkers;
      const test::Finished finished =
          test::run_process(words + Words{entry.path().string()}, {"MANROFFSEQ=", "LC_ALL=C.UTF-8", "PAGER=cat"});
      EXPECT_EQ(finished.err, "") << program << " " << entry.path();
      if (std::string(program) == "mandoc") {
        EXPECT_EQ(finished.out, "") << entry.path();
      }
    }
  if (checkers == 0) GTEST_SKIP() << "neither mandoc nor man is installed";
}

TEST_F(Manual, EveryVerbAndOptionIsOfferedByBash) {
  Words names;
  for (const cli::Verb& verb : cli::verbs(kRegistry)) names.emplace_back(verb.name);
  EXPECT_EQ(bash({"trireme", ""}), names + Words({"--help", "--version"}));
  for (const cli::Verb& verb : cli::verbs(kRegistry)) {
    Words options{"--help"};
    for (const base::OptionSpec& option : verb.options) options.push_back(std::string("--") + option.name);
    EXPECT_EQ(bash({"trireme", verb.name, "--"}), options) << verb.name;
    if (!verb.words.empty()) {
      EXPECT_EQ(bash({"trireme", verb.name, ""}), verb.words) << verb.name;
    }
  }
}

TEST_F(Manual, BashCompletesVerbsOptionsAndValues) {
  write(folder() / "two words.npz", "");
  EXPECT_EQ(bash({"trireme", "trai"}), Words{"train"});
  EXPECT_EQ(bash({"trireme", "train", "--strat"}), Words{"--strategy"});
  EXPECT_EQ(bash({"trireme", "train", "--model", "len"}), Words{"lenet5"});
  EXPECT_EQ(bash({"trireme", "train", "--model", "=", "len"}), Words{"lenet5"}) << "bash cuts at the equals sign";
  EXPECT_EQ(bash({"trireme", "train", "--model", "="}), kRegistry.models.names());
  EXPECT_EQ(bash({"trireme", "train", "--data", "fashion-m"}), Words{"fashion-mnist"});
  EXPECT_EQ(bash({"trireme", "train", "--data", "two"}), Words{"two words.npz"});
  EXPECT_EQ(bash({"trireme", "train", "--config", "two"}), Words{"two words.npz"});
  EXPECT_EQ(bash({"trireme", "eval", "--run", "ma"}), Words{"man1"}) << "folders alone";
  EXPECT_EQ(bash({"trireme", "eval", "--run", "two"}), Words{});
  EXPECT_EQ(bash({"trireme", "eval", "--split", "v"}), Words{"validation"});
  EXPECT_EQ(bash({"trireme", "train", "--augment", "crop,fl"}), Words{"crop,flip"});
  EXPECT_EQ(bash({"trireme", "train", "--strategy", "sw"}), Words{"switch"});
  EXPECT_EQ(bash({"trireme", "train", "--transport", "t"}), Words{"tcp"});
  EXPECT_EQ(bash({"trireme", "train", "--optimizer", "ada"}), (Words{"adagrad", "adadelta", "adam", "adamw"}));
  EXPECT_EQ(bash({"trireme", "train", "--seed", ""}), Words{}) << "a number cannot be guessed";
  EXPECT_EQ(bash({"trireme", "train", "--quiet", "--see"}), Words{"--seed"}) << "a flag takes no value";
  EXPECT_EQ(bash({"trireme", "list", "mod"}), Words{"models"});
  EXPECT_EQ(bash({"trireme", "bench", "--model", "lenet5", ""}), Words{});
}

TEST_F(Manual, ZshCompletesVerbsOptionsAndValues) {
  const std::string script = read(folder() / "zsh/_trireme");
  for (const cli::Verb& verb : cli::verbs(kRegistry)) {
    EXPECT_TRUE(contains(script, fmt::format("'{}:", verb.name))) << verb.name;
    for (const base::OptionSpec& option : verb.options)
      EXPECT_TRUE(contains(script, fmt::format("'--{}{}[", option.name, option.value[0] == '\0' ? "" : "=")))
          << option.name;
  }
  if (!installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  EXPECT_EQ(zsh("trireme trai"), "trireme train ");
  EXPECT_EQ(zsh("trireme train --strat"), "trireme train --strategy=");
  EXPECT_EQ(zsh("trireme train --model len"), "trireme train --model lenet5 ");
  EXPECT_EQ(zsh("trireme train --model=len"), "trireme train --model=lenet5 ");
  EXPECT_EQ(zsh("trireme train --data fashion-m"), "trireme train --data fashion-mnist ");
  EXPECT_EQ(zsh("trireme train --augment crop,fl"), "trireme train --augment crop,flip,");
  EXPECT_EQ(zsh("trireme list mod"), "trireme list models ");
  EXPECT_EQ(zsh("trireme train --config /etc/debian_v"), "trireme train --config /etc/debian_version ");
}

// Words that no registry knows are those that the help names.
TEST(Completion, ValuesStandInTheHelpOrInARegistry) {
  for (const cli::Verb& verb : cli::verbs(kRegistry))
    for (const base::OptionSpec& option : verb.options) {
      const Words registered{"model", "data", "strategy", "optimizer", "transport", "augment", "schedule"};
      if (std::ranges::find(registered, option.name) != registered.end()) continue;
      const std::string help = std::string(option.value) + " " + option.help + " " + option.otherwise;
      for (const std::string& word : cli::option_values(kRegistry, verb, option).words)
        EXPECT_TRUE(contains(help, word)) << verb.name << " --" << option.name << " " << word;
    }
}

TEST_F(Manual, TheVerbItselfIsHidden) {
  EXPECT_FALSE(contains(run({"--help"}).out, "manual"));
  expect_refused({"manual"}, {"folder"});
  write(folder() / "file", "");
  expect_refused({"manual", "file"}, {"file"});
}

}  // namespace
}  // namespace trireme::cli_test
