// Names of threads, as the system knows them.
#include "base/cpu/thread_name.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <thread>

namespace trireme::base {
namespace {

std::string name_known_to_the_system() {
  std::string name;
  std::getline(std::ifstream("/proc/thread-self/comm"), name);
  return name;
}

TEST(ThreadName, IsThatOfTheCallingThreadAlone) {
  const std::string before = name_known_to_the_system();
  std::string inside;
  std::thread([&] {
    name_this_thread("sink metrics");
    inside = name_known_to_the_system();
  }).join();
  EXPECT_EQ(inside, "sink metrics");
  EXPECT_EQ(name_known_to_the_system(), before);
}

TEST(ThreadName, IsCutToWhatTheSystemKeeps) {
  std::string inside;
  std::thread([&] {
    name_this_thread("a name of more than fifteen bytes");
    inside = name_known_to_the_system();
  }).join();
  EXPECT_EQ(inside, "a name of more ");
}

}  // namespace
}  // namespace trireme::base
