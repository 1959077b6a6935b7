#include "base/text/foreign_options.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "base/text/options.h"
#include "support/core_errors.h"

namespace trireme::base {
namespace {

TEST(ForeignOptions, SayWhatDoesTheSameHere) {
  const std::set<std::string> ours{"batch", "optimizer", "data-dir", "threads"};
  const auto hint = [&](const char* typed) {
    return foreign_option_hint(typed, [&](const std::string& name) { return ours.contains(name); });
  };
  EXPECT_EQ(hint("batch-size"), "it is called --batch here");
  EXPECT_EQ(hint("batch_size"), "it is called --batch here");
  EXPECT_EQ(hint("BS"), "it is called --batch here");
  EXPECT_EQ(hint("data_dir"), "it is written --data-dir");
  EXPECT_NE(hint("lr").find("--optimizer sgd:lr="), std::string::npos);
  EXPECT_NE(hint("gpu").find("CPUs"), std::string::npos);
  EXPECT_EQ(hint("epoch"), "") << "there are no epochs here";
  EXPECT_EQ(hint("batch"), "");
  EXPECT_EQ(hint(""), "");
}

TEST(ForeignOptions, AreHintsOfCommandLinesAndFiles) {
  static constexpr std::array kTable{OptionSpec{"", "batch", "N", "0", ""}, OptionSpec{"", "tls", "", "no", ""}};
  Settings settings(kTable);
  const auto refused = [&](const char* name, const char* where) {
    return support::sentence(ErrorKind::user, [&] { settings.set(name, "1", where); });
  };
  EXPECT_EQ(refused("batch-size", ""), "there is no option --batch-size; it is called --batch here");
  EXPECT_EQ(refused("batch-size", "a.toml"), "a.toml has no option 'batch-size'; it is called --batch here");
  EXPECT_EQ(refused("bacth", ""), "there is no option --bacth; did you mean --batch?");
}

}  // namespace
}  // namespace trireme::base
