#include "strategy/all_reduce/all_reduce.h"

#include "strategy/single/single.h"

namespace trireme::strategy {
namespace {

// True when the algorithm can add along the oar tree.
bool adds_exactly(comm::Algorithm algorithm) {
  return algorithm == comm::Algorithm::automatic || algorithm == comm::Algorithm::direct;
}

class AllReduceConfig : public StrategyConfig {
 public:
  explicit AllReduceConfig(const AllReduceOptions& options)
      : StrategyConfig({.adds_exactly = adds_exactly(options.algorithm)}), options_(options) {}

  std::unique_ptr<Strategy> make_worker_side(const WorkerContext& worker) const override {
    if (worker.roles.workers == 1) return make_single(worker.replica, worker.updater);
    return make_all_reduce(worker, options_);
  }

 private:
  AllReduceOptions options_;
};

}  // namespace

AllReduceForm form_of_all_reduce(const WorkerContext& worker, const AllReduceOptions& options) {
  const bool by_slices = worker.exact && worker.updater.takes_any_part();
  return by_slices && options.algorithm == comm::Algorithm::automatic ? AllReduceForm::owned : AllReduceForm::whole;
}

std::unique_ptr<Strategy> make_all_reduce(const WorkerContext& worker, const AllReduceOptions& options) {
  return form_of_all_reduce(worker, options) == AllReduceForm::owned ? make_owned_all_reduce(worker, options)
                                                                     : make_whole_all_reduce(worker, options);
}

StrategyRow all_reduce_row() {
  return {
      "allreduce",
      "every worker holds all weights; gradients are added over all of them; same bits as single",
      {{"algorithm", "auto", "auto, direct, halving, tree, ring or hierarchical; all but the first two: --reduce fast"},
       {"bucket", "2048", "KB of gradients that travel together"}},
      [](base::Spec& spec, const WorkerSet&) {
        const comm::Algorithm algorithm = comm::parse_algorithm(spec.word("algorithm", "auto"));
        return std::make_shared<AllReduceConfig>(AllReduceOptions{algorithm, read_bucket_bytes(spec)});
      }};
}

}  // namespace trireme::strategy
