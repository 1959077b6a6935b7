// Which worker runs on which host, and how a command travels there.
#include "cluster/host_placement.h"

#include <gtest/gtest.h>

#include "base/text/text.h"
#include "cluster/launcher/start_on_host.h"
#include "support/core_errors.h"

namespace trireme::cluster {
namespace {

using support::contains;
using support::sentence;

std::string placed(int workers, const std::string& hosts) {
  return base::join(place(workers, base::split(hosts, ',')), " ");
}

TEST(HostPlacement, InBlocksAsEvenAsPossible) {
  EXPECT_EQ(placed(2, "a,b"), "a b");
  EXPECT_EQ(placed(3, "a,b"), "a a b");
  EXPECT_EQ(placed(6, "a,b,c,d"), "a a b b c d");
  EXPECT_EQ(placed(3, "a"), "a a a");
  EXPECT_EQ(place(2, {}), (std::vector<std::string>{"", ""}));
}

TEST(HostPlacement, ByWeight) {
  EXPECT_EQ(placed(4, "a:3,b"), "a a a b");
  EXPECT_EQ(placed(4, "a,b:2,c"), "a b b c");
  EXPECT_EQ(placed(8, "a:3,b"), "a a a a a a b b");
  EXPECT_EQ(placed(2, "a:100,b"), "a b");  // none is named for nothing
  EXPECT_EQ(placed(3, "[fe80::1]:2,fe80::2"), "fe80::1 fe80::1 fe80::2");
  EXPECT_EQ(placed(2, "me@a:1,localhost"), "me@a localhost");
}

TEST(HostPlacement, MistakesAreUserErrors) {
  const auto error = [](int workers, const std::string& hosts) {
    return sentence(base::ErrorKind::user, [&] { placed(workers, hosts); });
  };
  EXPECT_TRUE(contains(error(2, "a,,b"), "without a name"));
  EXPECT_TRUE(contains(error(2, ":3,b"), "without a name in ':3'"));
  EXPECT_TRUE(contains(error(2, "a:0,b"), "'a' has the weight 0"));
  EXPECT_TRUE(contains(error(2, "a:-1"), "'a' has the weight -1"));
  EXPECT_TRUE(contains(error(2, "a:x"), "the weight of the host 'a' is 'x'"));
  EXPECT_TRUE(contains(error(2, "a,b,c"), "3 hosts for 2 workers"));
  EXPECT_TRUE(contains(error(2, "-oProxyCommand=x"), "no name of a host"));
  EXPECT_TRUE(contains(error(2, "a b"), "no name of a host"));
  EXPECT_TRUE(contains(error(0, ""), "0 workers"));
}

TEST(Remote, MeetingsCanBeReachedFromAllHosts) {
  Job job;
  job.world = 2;
  job.hosts = {"", ""};
  const comm::Address here = rendezvous_of(job);
  EXPECT_EQ(here.host, "127.0.0.1");
  EXPECT_GT(here.port, 0);
  EXPECT_EQ(held_rendezvous(job, here).host, "127.0.0.1");
  job.hosts = {"", "127.0.0.2"};
  EXPECT_EQ(rendezvous_of(job).host, "127.0.0.1");  // as that one would see this one
  EXPECT_EQ(held_rendezvous(job, rendezvous_of(job)).host, "");
  job.hosts = {"", "no-such-host.invalid"};
  EXPECT_FALSE(rendezvous_of(job).host.empty());
  job.hosts = {"me@far", ""};
  const comm::Address far = rendezvous_of(job);
  EXPECT_EQ(far.host, "far");
  EXPECT_GE(far.port, 20000);
  EXPECT_LE(far.port, 59999);
  job.port = 4000;
  EXPECT_EQ(rendezvous_of(job).port, 4000);
}

TEST(Remote, TheSshCommandKeepsItsOptions) {
  Job job;
  job.command = {"/bin/trireme", "train"};
  job.ssh = "ssh -p 2222  -i key";
  job.directory = "/home/me";
  EXPECT_EQ(base::join(ssh_command(job, "a"), "|"),
            "ssh|-p|2222|-i|key|-T|-oBatchMode=yes|-oServerAliveInterval=20|-oConnectTimeout=30|a|"
            "exec sh -c 'cd /home/me || exit 127; TRIREME_LAUNCH_INFO=stdin /bin/trireme train; exit $?'");
  job.ssh = " ";
  EXPECT_TRUE(contains(sentence(base::ErrorKind::user, [&] { ssh_command(job, "a"); }), "the ssh command is empty"));
}

TEST(Remote, WordsAreQuotedIfTheyNeedIt) {
  EXPECT_EQ(quoted("--batch"), "--batch");
  EXPECT_EQ(quoted(""), "''");
  EXPECT_EQ(quoted("a b"), "'a b'");
  EXPECT_EQ(quoted("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace trireme::cluster
