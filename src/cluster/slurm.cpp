#include "cluster/slurm.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/hash.h"
#include "base/text/text.h"
#include "cluster/user_secret.h"

namespace trireme::cluster {
namespace {

constexpr std::uint64_t kFirstPort = 20000, kPorts = 40000;
constexpr std::uint32_t kFirstSpecialStep = 0xfffffff0;  // the batch script, an interactive shell and the like

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// True for a numbered step, which srun created.
bool is_step(const std::string& id) {
  std::uint32_t number = 0;
  const auto [end, cause] = std::from_chars(id.data(), id.data() + id.size(), number);
  return cause == std::errc() && end == id.data() + id.size() && number < kFirstSpecialStep;
}

// The value of the first variable that is set.
std::string first_of(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (std::string value = environment(name); !value.empty()) return value;
  return "";
}

std::string token_of(const std::string& name, const std::string& secret) {
  const base::Digest digest = base::hmac_sha256(secret, bytes_of(name));
  std::string token;
  for (const std::byte byte : digest) token += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return token;
}

int number_in(const char* name, const std::string& value) { return static_cast<int>(base::parse_int(name, value)); }

}  // namespace

std::optional<LaunchInfo> slurm_launch_info(const Environment& environment) {
  const std::string job = environment("SLURM_JOB_ID"), step = environment("SLURM_STEP_ID"),
                    rank = environment("SLURM_PROCID"),
                    tasks = first_of(environment, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"});
  if (job.empty() || rank.empty() || tasks.empty() || !is_step(step)) return std::nullopt;
  LaunchInfo launch_info;
  launch_info.rank = number_in("SLURM_PROCID", rank);
  launch_info.world = number_in("SLURM_NTASKS", tasks);
  if (launch_info.world == 1) return std::nullopt;
  if (launch_info.rank < 0 || launch_info.rank >= launch_info.world)
    base::user_error("Slurm says that this is task {} of {}; tasks are 0 to {}", launch_info.rank, launch_info.world,
                     launch_info.world - 1);
  const std::string nodes = first_of(environment, {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"});
  if (nodes.empty()) base::user_error("Slurm gives no SLURM_STEP_NODELIST, so rank 0 cannot be found");
  const std::string name = fmt::format("slurm job {} step {}", job, step);
  const std::string first = first_node(nodes);
  const bool is_one_node = first == nodes;
  launch_info.rendezvous = {is_one_node ? "127.0.0.1" : first,
                            static_cast<int>(kFirstPort + base::xxh3(bytes_of(name)) % kPorts)};
  if (!is_one_node && launch_info.rank == 0) launch_info.rendezvous.host = "";
  launch_info.token = environment("TRIREME_TOKEN");
  if (launch_info.token.empty()) launch_info.token = token_of(name, user_secret(environment("HOME")));
  launch_info.launcher = "slurm";
  return launch_info;
}

// Takes the first number of each bracket as written (it may have leading zeros), up to the first comma outside
// brackets.
std::string first_node(std::string_view list) {
  std::string name;
  bool is_inside = false, is_skipping = false;  // a range in brackets; what follows its first number
  for (const char c : list) {
    if (c == '[' && !is_inside) {
      is_inside = true;
    } else if (c == ']' && is_inside) {
      is_inside = is_skipping = false;
    } else if (is_inside) {
      is_skipping = is_skipping || c == '-' || c == ',';
      if (!is_skipping) name += c;
    } else if (c == ',') {
      break;
    } else {
      name += c;
    }
  }
  if (name.empty() || is_inside || name.find_first_of("[]") != std::string::npos)
    base::user_error("the node list '{}' of Slurm cannot be read", list);
  return name;
}

}  // namespace trireme::cluster
