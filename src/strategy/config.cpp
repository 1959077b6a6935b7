#include "strategy/config.h"

#include <algorithm>

#include "base/error.h"

namespace trireme::strategy {

std::unique_ptr<ServerSide> StrategyConfig::make_server_side(Server&) const {
  base::throw_error(base::ErrorKind::internal, "a strategy without a server side was asked for one");
}

bool StrategyRow::has_option(const std::string& key) const {
  return std::ranges::find(options, key, &base::SpecOption::key) != options.end();
}

std::int64_t read_bucket_bytes(base::Spec& spec) {
  const std::int64_t kilobytes = spec.integer("bucket", 0);
  if (kilobytes < 0 || kilobytes > 1 << 20)
    base::user_error("--strategy: bucket is {} KB, expected 1 to 1048576 (0: the default)", kilobytes);
  return kilobytes << 10;
}

}  // namespace trireme::strategy
