// A resumed run keeps the --tls it began with. The meeting's greeting (comm/transport/tcp/handshake.h) says whether it
// wants TLS.
#include "comm/transport/link/link.h"
#include "comm/transport/tcp/handshake.h"
#include "comm/transport/tcp/socket.h"
#include "e2e/strategies.h"

#include "base/error.h"
#include "base/system/clock.h"

namespace trireme::test {
namespace {

const Arguments kSecretive = words(
    "--model lenet5 --data synthetic --train-samples 90 --test-samples 20 --batch 32 --oars 8 --threads 1 --workers 2");

class ResumeSecrecy : public Strategies {
 protected:
  // Runs `trireme train` and connects to its meeting meanwhile: whether that wants TLS.
  static bool wants_tls(const Arguments& options) {
    const comm::Address meeting{"127.0.0.1", comm::unused_port()};
    Process job(command(options + Arguments{"--port", std::to_string(meeting.port)}));
    std::array<std::byte, comm::kGreetingBytes> greeting{};
    const auto is_greeted = [&] {
      try {
        const std::int64_t deadline = base::in_seconds(5);
        const comm::Socket socket = comm::connect_to(meeting, deadline);
        comm::receive_all(socket, greeting, deadline);
        return true;
      } catch (const std::exception&) {  // nobody listens yet
        return false;
      }
    };
    EXPECT_TRUE(wait_until(is_greeted)) << job.errors_so_far();
    const Finished finished = job.wait(kDeadlineSeconds);
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return greeting[comm::kMagicBytes] == std::byte{1};
  }
};

TEST_F(ResumeSecrecy, TlsIsKept) {
  const std::string encrypted = new_folder(), plain = new_folder();
  EXPECT_TRUE(wants_tls(kSecretive + Arguments{"--tls", "--run", encrypted}));
  EXPECT_TRUE(wants_tls({"--resume", encrypted, "--epochs", "2"}));
  EXPECT_FALSE(wants_tls(kSecretive + Arguments{"--run", plain}));
  EXPECT_FALSE(wants_tls({"--resume", plain, "--epochs", "2"}));
  EXPECT_TRUE(wants_tls({"--resume", plain, "--epochs", "3", "--tls"}));
}

}  // namespace
}  // namespace trireme::test
