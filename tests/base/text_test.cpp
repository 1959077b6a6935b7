// Text: splitting, numbers, specifications, nearest names, what people read.
#include "base/text/text.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/text/nearest.h"
#include "support/core_errors.h"

namespace trireme::base {
namespace {

using support::contains;
using support::sentence;
using Words = std::vector<std::string>;

TEST(Text, SplitAndJoin) {
  EXPECT_EQ(split("", ','), Words{});
  EXPECT_EQ(split("a", ','), Words{"a"});
  EXPECT_EQ(split("a,b,,c", ','), (Words{"a", "b", "", "c"}));
  EXPECT_EQ(split(",", ','), (Words{"", ""}));
  EXPECT_EQ(join(Words{}, ", "), "");
  EXPECT_EQ(join(Words{"a"}, ", "), "a");
  EXPECT_EQ(join(Words{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join_or(Words{}), "");
  EXPECT_EQ(join_or(Words{"a"}), "a");
  EXPECT_EQ(join_or(Words{"a", "b"}), "a or b");
  EXPECT_EQ(join_or(Words{"a", "b", "c"}), "a, b or c");
}

TEST(Text, WholeNumbers) {
  EXPECT_EQ(parse_int("--batch", "128"), 128);
  EXPECT_EQ(parse_int("--batch", "-3"), -3);
  EXPECT_EQ(parse_int("--batch", "9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* wrong : {"", " 1", "1 ", "1.5", "1e3", "12x", "x", "0x10", "9223372036854775808", "--1"}) {
    const std::string text = sentence(ErrorKind::user, [&] { parse_int("--batch", wrong); });
    EXPECT_TRUE(contains(text, "--batch") && contains(text, wrong)) << text;
  }
}

TEST(Text, Numbers) {
  EXPECT_EQ(parse_double("lr", "0.1"), 0.1);
  EXPECT_EQ(parse_double("lr", "1e-3"), 1e-3);
  EXPECT_EQ(parse_double("lr", "-2"), -2.0);
  for (const char* wrong : {"", "nan", "inf", "-inf", "1e999", "0.1.2", "0,1", " 1", "1 ", "ten"}) {
    const std::string text = sentence(ErrorKind::user, [&] { parse_double("lr", wrong); });
    EXPECT_TRUE(contains(text, "lr")) << text;
  }
}

TEST(Text, Fractions) {
  EXPECT_EQ(parse_fraction("at", "50%"), 0.5);
  EXPECT_EQ(parse_fraction("at", "0.5"), 0.5);
  EXPECT_EQ(parse_fraction("at", "0"), 0.0);
  EXPECT_EQ(parse_fraction("at", "100%"), 1.0);
  EXPECT_EQ(parse_fraction("at", "1"), 1.0);
  EXPECT_EQ(parse_fraction("at", "12.5%"), 0.125);
  for (const char* wrong : {"101%", "1.01", "-1%", "-0.1", "%", "", "50%%", "half"})
    sentence(ErrorKind::user, [&] { parse_fraction("at", wrong); });
}

TEST(Spec, NameAndOptions) {
  Spec spec("optimizer", "sgd:lr=0.1,momentum=0.9,nesterov,steps=12,mode=a=b");
  EXPECT_EQ(spec.name(), "sgd");
  EXPECT_EQ(spec.number("lr", 1), 0.1);
  EXPECT_EQ(spec.number("momentum", 0), 0.9);
  EXPECT_EQ(spec.number("decay", 0.25), 0.25);
  EXPECT_TRUE(spec.flag("nesterov", false));
  EXPECT_TRUE(spec.flag("other", true));
  EXPECT_EQ(spec.integer("steps", 0), 12);
  EXPECT_EQ(spec.word("mode", ""), "a=b");
  EXPECT_EQ(spec.word("absent", "x"), "x");
  EXPECT_NO_THROW(spec.finish());
}

TEST(Spec, NameAlone) {
  for (const char* text : {"adam", "adam:"}) {
    Spec spec("optimizer", text);
    EXPECT_EQ(spec.name(), "adam");
    EXPECT_EQ(spec.number("lr", 0.5), 0.5);
    EXPECT_NO_THROW(spec.finish());
  }
}

TEST(Spec, Flags) {
  for (const char* yes : {"a:f", "a:f=yes", "a:f=true", "a:f=1"}) EXPECT_TRUE(Spec("x", yes).flag("f", false)) << yes;
  for (const char* no : {"a:f=no", "a:f=false", "a:f=0"}) EXPECT_FALSE(Spec("x", no).flag("f", true)) << no;
  sentence(ErrorKind::user, [&] { Spec("x", "a:f=perhaps").flag("f", true); });
}

TEST(Spec, FreeKeysKeepTheirOrder) {
  Spec spec("schedule", "step:80=0.01,130=0.001,9=1");
  const std::vector<std::pair<std::string, std::string>> expected{{"80", "0.01"}, {"130", "0.001"}, {"9", "1"}};
  EXPECT_EQ(spec.all(), expected);
  EXPECT_NO_THROW(spec.finish());
}

TEST(Spec, UnknownOptionsAreNamedWithTheNearest) {
  Spec spec("optimizer", "sgd:lr=0.1,momentun=0.9");
  spec.number("lr", 1);
  spec.number("momentum", 0);
  const std::string text = sentence(ErrorKind::user, [&] { spec.finish(); });
  EXPECT_TRUE(contains(text, "momentun") && contains(text, "'momentum'") && contains(text, "sgd")) << text;

  Spec none("strategy", "single:x=1");
  const std::string takes_none = sentence(ErrorKind::user, [&] { none.finish(); });
  EXPECT_TRUE(contains(takes_none, "single") && contains(takes_none, "'x'")) << takes_none;
}

TEST(Spec, WrongValuesNameTheOption) {
  Spec spec("optimizer", "sgd:lr=fast,steps=1.5,momentum");
  EXPECT_TRUE(contains(sentence(ErrorKind::user, [&] { spec.number("lr", 1); }), "sgd:lr"));
  EXPECT_TRUE(contains(sentence(ErrorKind::user, [&] { spec.integer("steps", 1); }), "sgd:steps"));
  sentence(ErrorKind::user, [&] { spec.number("momentum", 1); });
  EXPECT_TRUE(contains(sentence(ErrorKind::user, [] { Spec("optimizer", "sgd:lr=1,lr=2"); }), "lr"));
}

TEST(Nearest, ByEditDistance) {
  const Words names{"resnet18", "resnet20-cifar", "lenet5", "alexnet", "densenet40-12"};
  EXPECT_EQ(nearest_name("resnet18", names), "resnet18");
  EXPECT_EQ(nearest_name("resnet81", names), "resnet18");
  EXPECT_EQ(nearest_name("lenet", names), "lenet5");
  EXPECT_EQ(nearest_name("alexnt", names), "alexnet");
  EXPECT_EQ(nearest_name("zzzzzzzz", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("lenet5", Words{}), "");
}

TEST(Nearest, TheSentence) {
  const Words names{"lenet5", "alexnet"};
  const std::string near = unknown_name("model", "lnet5", names);
  for (const char* part : {"model", "'lnet5'", "'lenet5'?", "alexnet"}) EXPECT_TRUE(contains(near, part)) << near;
  const std::string far = unknown_name("model", "transformer", names);
  for (const char* part : {"model", "'transformer'", "lenet5", "alexnet"}) EXPECT_TRUE(contains(far, part)) << far;
  EXPECT_FALSE(contains(far, "did you mean")) << far;
}

TEST(Text, BytesForPeople) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.0 KB");
  EXPECT_EQ(human_bytes(12'345'678), "12.3 MB");
  EXPECT_EQ(human_bytes(2.5e9), "2.5 GB");
  EXPECT_EQ(human_bytes(7e15), "7000.0 TB");
}

TEST(Text, OneOrMany) {
  EXPECT_EQ(counted(1, "epoch"), "1 epoch");
  EXPECT_EQ(counted(0, "epoch"), "0 epochs");
  EXPECT_EQ(counted(2, "test sample"), "2 test samples");
}

TEST(Text, SecondsForPeople) {
  EXPECT_EQ(human_seconds(0), "0.0 s");
  EXPECT_EQ(human_seconds(4.24), "4.2 s");
  EXPECT_EQ(human_seconds(0.1), "0.1 s");
  EXPECT_EQ(human_seconds(0.0123), "12.3 ms");
  EXPECT_EQ(human_seconds(0.00004), "0.0 ms");
  EXPECT_EQ(human_seconds(60), "1:00");
  EXPECT_EQ(human_seconds(61.4), "1:01");
  EXPECT_EQ(human_seconds(3599.4), "59:59");
  EXPECT_EQ(human_seconds(3599.6), "1:00:00");
  EXPECT_EQ(human_seconds(3723), "1:02:03");
  EXPECT_EQ(human_seconds(360'000), "100:00:00");
  EXPECT_EQ(human_seconds(-1), "?");
  EXPECT_EQ(human_seconds(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(human_seconds(std::numeric_limits<double>::quiet_NaN()), "?");
}

}  // namespace
}  // namespace trireme::base
