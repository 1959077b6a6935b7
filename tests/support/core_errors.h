// What an action threw: its kind and its sentence.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace trireme::support {

// The sentence of the base::Error of that kind which f() throws; a test failure, and "", when it throws none.
template <class F>
std::string sentence(base::ErrorKind kind, const F& f) {
  try {
    f();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace trireme::support
