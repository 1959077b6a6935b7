// The page in a real browser: runs browser_test.py, which drives Debian's Chromium.
#include <gtest/gtest.h>

#include <filesystem>

#include "support/peer_python.h"

namespace trireme::watch {
namespace {

class Browser : public testing::TestWithParam<const char*> {};

TEST_P(Browser, shows) {
  if (!std::filesystem::exists("/usr/bin/chromedriver") || !std::filesystem::exists("/usr/bin/chromium"))
    return test::without_peer("there is no Chromium with its driver (Debian: chromium, chromium-driver)");
  const std::string python = test::find_python("selenium");
  if (python.empty()) return test::without_peer("no Python has selenium (Debian: python3-selenium)");
  const std::string script = std::string(TRIREME_SOURCE_DIR) + "/tests/watch/page/browser_test.py";
  const auto result = test::run_process({python, script, std::string("PageTest.test_") + GetParam()});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

INSTANTIATE_TEST_SUITE_P(page, Browser,
                         testing::Values("several_runs_and_how_they_are_drawn",
                                         "speed_of_steps_is_without_the_time_between_them",
                                         "moving_by_keys_and_pointer",
                                         "everything_can_be_reached_by_keyboard_and_has_a_name", "light_dark_and_phone",
                                         "a_run_that_trains_is_shown_live", "a_lost_worker", "steering",
                                         "marks_and_what_others_have_not_recorded", "the_time_line_of_the_newest_step",
                                         "names_that_are_markup_stay_text"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace trireme::watch
