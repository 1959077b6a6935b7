#include "data/readers/test_share.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/text/text.h"
#include "data/stages/subset.h"

namespace trireme::data {
namespace {

constexpr double kTestShare = 0.2;

}  // namespace

DataPair with_test_share(const DatasetPtr& all, const DataRequest& request) {
  if (request.whole) return {all, all, {}};
  if (std::llround(kTestShare * static_cast<double>(all->size())) < 1)
    base::user_error("'{}' has {}, too few to keep some as a test set; add samples, or a test set", request.name,
                     base::counted(all->size(), "sample"));
  DataPair pair = split_validation(all, kTestShare, request.seed);
  pair.notes.push_back(fmt::format("the data has no test set of its own: {} of {} samples, chosen by the seed, serve",
                                   pair.test->size(), all->size()));
  return pair;
}

}  // namespace trireme::data
