// Certificates: written, read, sealed and checked.
#include "compare/certificate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "support/core_errors.h"

namespace trireme::compare {
namespace {

using support::contains;

Certificate example() {
  Outcome outcome;
  outcome.peer_version = "1.13";
  outcome.own = {"aa", {"b1", "b2"}, "cc"};
  outcome.levels = {{"op-equal", true, "fine", {{"conv1 forward", 1e-7, 1e-6, 2e-7}}},
                    {"step-equal", false, "not", {{"loss", std::numeric_limits<double>::infinity(), 1e-3, 0}}}};
  return certify(outcome, {{"model", "lenet5"}, {"peer", "pytorch"}, {"steps", "2"}});
}

bool all_hold(const std::vector<Finding>& findings) { return std::ranges::all_of(findings, &Finding::holds); }

TEST(Certificate, IsReadAsItWasWritten) {
  const Certificate written = example();
  for (const int indent : {-1, 1}) {
    const Certificate read = parse_certificate(to_json(written, indent), "it");
    EXPECT_EQ(read.settings, written.settings);
    EXPECT_EQ(read.thresholds, written.thresholds);
    EXPECT_EQ(read.outcome.own, written.outcome.own);
    ASSERT_EQ(read.outcome.levels.size(), 2u);
    EXPECT_EQ(read.outcome.levels[0].rows[0].max_error, 2e-7);
    EXPECT_EQ(read.outcome.levels[1].rows[0].error, std::numeric_limits<double>::infinity());
    EXPECT_EQ(to_json(read, indent), to_json(written, indent));
  }
}

TEST(Certificate, ThatWasChangedIsRefused) {
  std::string text = to_json(example(), 1);
  text.replace(text.find("lenet5"), 6, "lenet6");
  EXPECT_TRUE(contains(support::sentence(base::ErrorKind::user, [&] { (void)parse_certificate(text, "it.json"); }),
                       "it.json was changed"));
  for (const char* nothing : {"", "{}", "[1]", "{\"certificate\": \"other\"}"})
    EXPECT_TRUE(contains(support::sentence(base::ErrorKind::user, [&] { (void)parse_certificate(nothing, "it.json"); }),
                         "it.json is no certificate"));
}

TEST(Certificate, OfAnotherVersionIsNamed) {
  const auto parse = [] { (void)parse_certificate(R"({"certificate": "trireme compare, form 1"})", "it.json"); };
  EXPECT_TRUE(contains(support::sentence(base::ErrorKind::user, parse), "it.json is a certificate of another version"));
}

TEST(Certificate, VerdictsMustFollowFromNumbers) {
  Certificate one = example();
  EXPECT_TRUE(all_hold(check_verdicts(one)));
  one.outcome.levels[1].passed = true;
  EXPECT_FALSE(all_hold(check_verdicts(one)));
  one = example();
  one.thresholds.begin()->second *= 2;
  EXPECT_FALSE(all_hold(check_verdicts(one)));
}

TEST(Certificate, OurSideAgain) {
  const Certificate one = example();
  EXPECT_TRUE(all_hold(check_own(one, one.outcome.own)));
  OwnFacts other = one.outcome.own;
  other.batches[1] = "b3";
  EXPECT_FALSE(all_hold(check_own(one, other)));
  other = one.outcome.own;
  other.weights_sha256 = "dd";
  EXPECT_FALSE(all_hold(check_own(one, other)));
  Certificate elsewhere = one;
  elsewhere.isa = "another";
  EXPECT_TRUE(all_hold(check_own(elsewhere, other))) << "another processor may round otherwise";
}

TEST(Certificate, LevelsAgain) {
  const Certificate one = example();
  EXPECT_TRUE(all_hold(check_levels(one, one.outcome)));
  Outcome again = one.outcome;
  again.levels[0].passed = false;
  EXPECT_FALSE(all_hold(check_levels(one, again)));
  again.levels.erase(again.levels.begin());
  EXPECT_FALSE(all_hold(check_levels(one, again)));
}

}  // namespace
}  // namespace trireme::compare
