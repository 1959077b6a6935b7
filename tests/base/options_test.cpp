// Settings over a table of options.
#include "base/text/options.h"

#include <gtest/gtest.h>

#include <array>

#include "support/core_errors.h"

namespace trireme::base {
namespace {

using support::contains;
using support::sentence;

constexpr std::array<OptionSpec, 5> kTable{{
    {"run", "batch", "N", "128", "samples of a global batch"},
    {"run", "threads", "N", "1", "threads"},
    {"run", "reduce", "HOW", "exact", "exact or fast"},
    {"run", "lr", "RATE", "0.1", "learning rate"},
    {"run", "json", "", "no", "print JSON"},
}};

TEST(Settings, DefaultsUntilSet) {
  Settings settings(kTable);
  EXPECT_EQ(settings.text("batch"), "128");
  EXPECT_FALSE(settings.is_set("batch"));
  EXPECT_TRUE(settings.given().empty());
  settings.set("batch", "64");
  EXPECT_TRUE(settings.is_set("batch"));
  EXPECT_EQ(settings.integer("batch", 1, 1000), 64);
  settings.set("batch", "32");
  EXPECT_EQ(settings.integer("batch", 1, 1000), 32);
  EXPECT_EQ(settings.number("lr"), 0.1);
  const std::map<std::string, std::string> all{
      {"batch", "32"}, {"threads", "1"}, {"reduce", "exact"}, {"lr", "0.1"}, {"json", "no"}};
  EXPECT_EQ(settings.all(), all);
  EXPECT_EQ(settings.given(), (std::map<std::string, std::string>{{"batch", "32"}}));
  EXPECT_EQ(settings.table().size(), kTable.size());
}

TEST(Settings, UnknownNamesSayWhereAndTheNearest) {
  Settings settings(kTable);
  const std::string near = sentence(ErrorKind::user, [&] { settings.set("thread", "2", "run.toml"); });
  for (const char* part : {"run.toml", "thread", "threads"}) EXPECT_TRUE(contains(near, part)) << near;
  const std::string far = sentence(ErrorKind::user, [&] { settings.set("momentum", "2"); });
  for (const char* part : {"--momentum", "--help"}) EXPECT_TRUE(contains(far, part)) << far;
  EXPECT_TRUE(settings.given().empty());
}

TEST(Settings, WholeNumbersHaveBounds) {
  Settings settings(kTable);
  for (const char* inside : {"1", "7", "16"}) {
    settings.set("threads", inside);
    EXPECT_EQ(settings.integer("threads", 1, 16), std::stoi(inside));
  }
  for (const char* outside : {"0", "17", "-1", "two", "1.0", ""}) {
    settings.set("threads", outside);
    const std::string text = sentence(ErrorKind::user, [&] { settings.integer("threads", 1, 16); });
    EXPECT_TRUE(contains(text, "--threads")) << text;
  }
}

TEST(Settings, WrongValuesOfAFileNameTheFile) {
  Settings settings(kTable);
  settings.set("batch", "many", "run.toml");
  const std::string from_file = sentence(ErrorKind::user, [&] { settings.integer("batch", 1, 16); });
  for (const char* part : {"--batch", "run.toml", "many"}) EXPECT_TRUE(contains(from_file, part)) << from_file;
  settings.set("batch", "lots");  // the command line wins
  const std::string from_line = sentence(ErrorKind::user, [&] { settings.integer("batch", 1, 16); });
  EXPECT_FALSE(contains(from_line, "run.toml")) << from_line;
}

TEST(Settings, FlagsAndChoices) {
  Settings settings(kTable);
  EXPECT_FALSE(settings.flag("json"));
  for (const char* word : {"yes", "no", "true", "false", "1", "0"}) {
    settings.set("json", word);
    const std::string text = word;
    EXPECT_EQ(settings.flag("json"), text == "yes" || text == "true" || text == "1") << word;
  }
  settings.set("json", "maybe");
  sentence(ErrorKind::user, [&] { (void)settings.flag("json"); });

  const std::vector<std::string> words{"exact", "fast"};
  EXPECT_EQ(settings.choice("reduce", words), "exact");
  settings.set("reduce", "fats");
  const std::string text = sentence(ErrorKind::user, [&] { settings.choice("reduce", words); });
  for (const char* part : {"--reduce", "fats", "fast", "exact"}) EXPECT_TRUE(contains(text, part)) << text;
}

TEST(Settings, AskingForWhatIsNotInTheTableIsABug) {
  const Settings settings(kTable);
  sentence(ErrorKind::internal, [&] { (void)settings.text("colour"); });
}

}  // namespace
}  // namespace trireme::base
