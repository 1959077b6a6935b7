// Runs of `trireme compare` beside PyTorch, as it is and with planted faults.
#pragma once

#include <cstdlib>

#include "base/error.h"
#include "cli/program.h"
#include "peer/script.h"
#include "support/peer_python.h"

namespace trireme::cli_test {

class Compare : public Program {
 protected:
  // With PyTorch, or the test does not run.
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    const char* named = std::getenv("TRIREME_PYTHON");
    try {
      python_ = peer::find_python(peer::pytorch(), {"", named ? named : "", ""});
    } catch (const base::Error& error) {
      return test::without_peer(error.what());
    }
  }
  Outcome compared(const Words& arguments, const Words& environment = {}) const {
    return run(Words{"compare", "--json", "--python", python_} + arguments, environment);
  }
  // Peers in which a line of a file reads otherwise.
  Words peers_with(const std::string& file, const std::string& line, const std::string& instead) const {
    const fs::path peers = folder() / "peers";
    fs::copy(fs::path(TRIREME_SOURCE_DIR) / "peers", peers, fs::copy_options::recursive);
    std::string text = read(peers / "pytorch" / file);
    std::size_t at = text.find(line);
    EXPECT_NE(at, std::string::npos) << line;
    for (; at != std::string::npos; at = text.find(line, at + instead.size())) text.replace(at, line.size(), instead);
    write(peers / "pytorch" / file, text);
    return {"TRIREME_PEERS=" + peers.string()};
  }
  // It fails at this level, and says these words.
  static void expect_failure(const Outcome& outcome, const std::string& level, const Words& sayings) {
    EXPECT_EQ(outcome.code, 1) << outcome.err;
    const Json json = last_json(outcome);
    EXPECT_FALSE(json.at("passed").get<bool>());
    bool judged = false;
    for (const Json& one : json.at("levels")) {
      if (one.at("level") != level) continue;
      judged = true;
      EXPECT_FALSE(one.at("passed").get<bool>()) << one;
      for (const std::string& saying : sayings)
        EXPECT_NE(one.at("summary").get<std::string>().find(saying), std::string::npos) << one;
    }
    EXPECT_TRUE(judged) << level;
  }

  std::string python_;
};

}  // namespace trireme::cli_test
