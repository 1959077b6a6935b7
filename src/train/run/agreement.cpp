#include "train/run/agreement.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/cpu/cores.h"
#include "base/cpu/simd.h"
#include "base/error.h"
#include "base/error_of.h"
#include "base/hash.h"
#include "base/index.h"
#include "comm/membership/member.h"
#include "observe/resources.h"

namespace trireme::train {
namespace {

constexpr std::size_t kTextBytes = 512;

using base::at;

// "worker 2 on node3".
std::string who(int process, const strategy::RoleMap& roles, const std::vector<std::string>& hosts) {
  return fmt::format("{} on {}", roles.name(process), hosts[at(process)]);
}

}  // namespace

std::vector<std::string> Agreement::gather(const std::string& text) {
  std::array<char, kTextBytes> own{};
  std::copy_n(text.begin(), std::min(text.size(), own.size() - 1), own.begin());
  std::vector<char> all(kTextBytes * at(group_.world()));
  group_.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  std::vector<std::string> texts;
  for (int r = 0; r < group_.world(); ++r) texts.emplace_back(all.data() + at(r) * kTextBytes);
  return texts;
}

std::vector<std::int64_t> Agreement::gather(std::int64_t value) {
  std::vector<std::int64_t> all(at(group_.world()));
  group_.all_gather(std::as_bytes(std::span(&value, 1)), std::as_writable_bytes(std::span(all)));
  return all;
}

std::vector<int> Agreement::gather(int value) {
  const std::vector<std::int64_t> all = gather(std::int64_t{value});
  return {all.begin(), all.end()};
}

// Connections authenticate short messages only. So the text's hash, which is short, is sent first and checked.
std::string Agreement::broadcast(std::string text) {
  struct {
    std::uint64_t size = 0;
    std::array<char, 64> hash{};
  } announced;
  const auto hash_of = [](const std::string& one) { return base::sha256_hex(std::as_bytes(std::span(one))); };
  announced.size = text.size();
  std::ranges::copy(hash_of(text), announced.hash.begin());
  group_.broadcast(std::as_writable_bytes(std::span(&announced, 1)), 0);
  text.resize(announced.size);
  group_.broadcast(std::as_writable_bytes(std::span(text)), 0);
  if (hash_of(text) != std::string_view(announced.hash.data(), announced.hash.size()))
    base::run_error("the settings that came from process 0 were altered on the network; use --tls");
  return text;
}

void Agreement::together(const std::function<void()>& part) {
  std::string sentence;
  auto kind = base::ErrorKind::user;
  try {
    part();
  } catch (...) {
    if (group_.world() == 1) throw;
    const base::Error error = base::error_of(std::current_exception());
    sentence = error.what();
    kind = error.kind();
  }
  if (group_.world() == 1) return;
  const std::vector<std::string> sentences = gather(sentence);
  const std::vector<int> kinds = gather(static_cast<int>(kind));
  for (std::size_t process = 0; process < sentences.size(); ++process)
    if (!sentences[process].empty())
      throw base::Error(static_cast<base::ErrorKind>(kinds[process]),
                        process == 0 ? sentences[process] : fmt::format("process {}: {}", process, sentences[process]));
}

std::vector<std::string> Agreement::hosts() { return gather(observe::host_name()); }

HostNeighbours Agreement::neighbours(const strategy::RoleMap& roles) {
  const base::CorePlan cores = base::plan_cores();
  std::string own = comm::this_process().host_mark + "/";
  std::vector<int> cpus = cores.cpus;
  std::ranges::sort(cpus);
  std::size_t hash = 0;
  for (const int cpu : cpus) hash = hash * 1000003 + static_cast<std::size_t>(cpu) + 1;
  own += std::to_string(hash);
  const std::vector<std::string> all = gather(own);
  HostNeighbours result{roles.workers, 0, 0};
  const int process = group_.rank();
  for (const int other : roles.worker_processes()) {
    if (all[at(other)] != own) continue;
    if (other < process) ++result.index;
    ++result.here;
  }
  result.here = std::max(result.here, 1);
  return result;
}

std::string Agreement::isa(const std::string& wanted) {
  auto own = base::Isa::generic;
  together([&] { own = base::parse_isa(wanted); });
  const std::vector<int> all = gather(static_cast<int>(own));
  return std::string(base::isa_name(static_cast<base::Isa>(*std::ranges::min_element(all))));
}

void Agreement::same_data(const std::string& hash, const strategy::RoleMap& roles,
                          const std::vector<std::string>& hosts) {
  const std::vector<std::string> all = gather(hash);
  const int first = roles.process_of_worker(0);
  for (std::size_t process = 0; process < all.size(); ++process)
    if (!all[process].empty() && all[process] != all[at(first)])
      base::user_error("{} has other data than {}: the dataset must be the same everywhere",
                       who(static_cast<int>(process), roles, hosts), who(first, roles, hosts));
}

void Agreement::same_kernels(const std::vector<graph::KernelPrint>& prints, bool allow_others,
                             const strategy::RoleMap& roles, const std::vector<std::string>& hosts) {
  std::vector<std::uint64_t> own, all(prints.size() * at(group_.world()));
  for (const graph::KernelPrint& print : prints) own.push_back(print.hash);
  group_.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  for (int w = 1; w < group_.world(); ++w)
    for (std::size_t k = 0; k < prints.size(); ++k)
      if (all[at(w) * prints.size() + k] != all[k] && !allow_others)
        base::user_error(
            "{} computes '{}' with other bits than {}; use machines of one kind, a common --isa, or accept other bits "
            "with --allow-other-bits",
            who(roles.process_of_worker(w), roles, hosts), prints[k].kernel,
            who(roles.process_of_worker(0), roles, hosts));
}

}  // namespace trireme::train
