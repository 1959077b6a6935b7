// What a terminal takes.
#include "base/system/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/system/beside_program.h"

namespace trireme::base {
namespace {

TEST(Terminal, TakesEscapesUnlessItIsDumb) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) GTEST_SKIP() << "no pseudo terminal here";
  std::FILE* terminal = std::fopen(ptsname(master), "w");
  ASSERT_NE(terminal, nullptr);
  std::FILE* file = std::fopen("/dev/null", "w");
  unsetenv("NO_COLOR");
  setenv("TERM", "xterm", 1);
  EXPECT_TRUE(can_redraw(terminal));
  EXPECT_TRUE(may_colour(terminal));
  EXPECT_FALSE(can_redraw(file));
  setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(can_redraw(terminal));
  EXPECT_FALSE(may_colour(terminal));
  unsetenv("NO_COLOR");
  setenv("TERM", "dumb", 1);
  EXPECT_FALSE(can_redraw(terminal));
  EXPECT_FALSE(may_colour(terminal));
  unsetenv("TERM");
  EXPECT_FALSE(can_redraw(terminal));
  std::fclose(file);
  std::fclose(terminal);
  close(master);
}

// This is a test program, so its name is not trireme.
TEST(OwnWords, NameThisProgram) {
  const std::string own = program_name();
  EXPECT_EQ(in_own_words("go on with: trireme train --resume r"), "go on with: " + own + " train --resume r");
  EXPECT_EQ(in_own_words("trireme list ops (trireme list models)"), own + " list ops (" + own + " list models)");
  EXPECT_EQ(in_own_words("Trireme computes; libtrireme x; trireme"), "Trireme computes; libtrireme x; trireme");
  EXPECT_EQ(in_own_words("another version of trireme (0.1)"), "another version of trireme (0.1)");
}

}  // namespace
}  // namespace trireme::base
