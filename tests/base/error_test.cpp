// Kinds of errors and the exit codes they end the program with.
#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <system_error>

#include "base/error_of.h"
#include "support/core_errors.h"

namespace trireme::base {
namespace {

using support::contains;
using support::sentence;

TEST(Error, KindsAndExitCodes) {
  EXPECT_EQ(Error(ErrorKind::user, "x").exit_code(), 2);
  EXPECT_EQ(Error(ErrorKind::run, "x").exit_code(), 1);
  EXPECT_EQ(Error(ErrorKind::internal, "x").exit_code(), 1);
}

TEST(Error, SentencesAreFormatted) {
  EXPECT_EQ(sentence(ErrorKind::user, [] { user_error("--{} is {}", "batch", 0); }), "--batch is 0");
  EXPECT_EQ(sentence(ErrorKind::run, [] { run_error("the loss became {}", 1.5); }), "the loss became 1.5");
}

TEST(Error, WhatTheSystemDoesNotGiveIsAFailureWithAHint) {
  const auto of = [](const auto& exception) { return error_of(std::make_exception_ptr(exception)); };
  EXPECT_EQ(of(Error(ErrorKind::user, "mine")).kind(), ErrorKind::user);
  EXPECT_STREQ(of(Error(ErrorKind::user, "mine")).what(), "mine");
  EXPECT_EQ(of(std::bad_alloc()).kind(), ErrorKind::run);
  EXPECT_TRUE(contains(of(std::bad_alloc()).what(), "out of memory"));
  const std::system_error no_thread(EAGAIN, std::generic_category(), "thread");
  EXPECT_EQ(of(no_thread).kind(), ErrorKind::run);
  EXPECT_TRUE(contains(of(no_thread).what(), "no more threads"));
  for (const Error& error :
       {of(std::out_of_range("map::at")), of(std::system_error(EIO, std::generic_category())), of(7)}) {
    EXPECT_EQ(error.kind(), ErrorKind::internal);
    EXPECT_TRUE(contains(error.what(), "internal error")) << error.what();
  }
}

TEST(Error, ChecksAreAlwaysOnAndSaySo) {
  EXPECT_NO_THROW(check(true, "never seen"));
  const std::string text = sentence(ErrorKind::internal, [] { check(1 + 1 == 3, "{} against {}", 2, 3); });
  EXPECT_TRUE(contains(text, "2 against 3")) << text;
  EXPECT_TRUE(contains(text, "internal error")) << text;
}

TEST(Error, IsAnOrdinaryException) { EXPECT_THROW(user_error("x"), std::runtime_error); }

}  // namespace
}  // namespace trireme::base
