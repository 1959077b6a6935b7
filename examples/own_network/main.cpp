// A network of your own, built op by op, trained and evaluated. Name a dataset of 28x28 grey images (mnist,
// fashion-mnist) to learn it; without a name it learns synthetic images. Exit code 0: it has learnt.
#include <fmt/core.h>

#include "base/error.h"
#include "data/loading/loader.h"
#include "data/open_data.h"
#include "data/stages/prepare.h"
#include "models/init.h"
#include "ops/activation/activation.h"
#include "ops/conv/conv.h"
#include "ops/dense/dense.h"
#include "ops/loss/loss.h"
#include "ops/merge/flatten.h"
#include "ops/merge/merge.h"
#include "ops/pool/pool.h"
#include "strategy/single/single.h"
#include "train/evaluation/evaluate.h"

using namespace trireme;

// Two branches look at the image with small and with large kernels; their channels are joined.
graph::Network two_branches() {
  graph::Network net("two-branches");
  const auto image = net.input("image", {1, 28, 28});
  const auto fine = net.add("fine", ops::conv({.channels = 8, .kernel = {3, 3}, .padding = {1, 1}}), {image});
  const auto coarse = net.add("coarse", ops::conv({.channels = 8, .kernel = {7, 7}, .padding = {3, 3}}), {image});
  auto x = net.add("relu", ops::relu(), {net.add("join", ops::concat(), {fine, coarse})});
  x = net.add("flatten", ops::flatten(), {net.add("pool", ops::max_pool({.kernel = {4, 4}}), {x})});
  net.finish(net.add("fc", ops::dense({.outputs = 10}), {x}), ops::softmax_cross_entropy());
  return net;
}

int main(int argc, char** argv) try {
  const data::DataPair raw = data::open_dataset(
      {.name = argc > 1 ? argv[1] : "synthetic", .wanted_inputs = {{1, 28, 28}}});  // what synthetic images look like
  const data::Normalization normal = data::compute_normalization(raw.train, "standard");
  crew::Crew crew(two_branches(), {.batch = 64, .oars = 8, .threads = 2});
  models::initialize(crew.network(), crew.space(), crew.weights(), "pytorch", 1);
  crew.refresh_weight_forms();
  strategy::Updater updater(crew, optim::make_optimizer("sgd:lr=0.005"), 0);
  const auto single = strategy::make_single(crew, updater);

  data::Loader loader(data::normalize(raw.train, normal), {.batch = 64, .seed = 1, .epochs = 1});
  std::int64_t step = 0;
  while (const data::Batch* batch = loader.next()) {
    strategy::Work work;
    work.batch = {batch->samples, {batch->inputs[0].floats()}, batch->target.floats(), batch->indices};
    work.random = {.seed = 1, .epoch = 0};
    work.step = ++step;
    work.lr = updater.optimizer().lr();
    const auto report = single->step(work);
    if (step % 50 == 0) fmt::print("step {}: loss {:.4f}\n", step, report.loss / static_cast<double>(batch->samples));
  }
  const train::Evaluation test = train::evaluate(crew, *data::normalize(raw.test, normal));
  fmt::print("test accuracy {:.2f} %\nweights {}\n", 100 * test.accuracy, crew.space().sha256(crew.weights()));
  return test.accuracy > 0.8 ? 0 : 1;
} catch (const base::Error& error) {
  fmt::print(stderr, "own_network: {}\n", error.what());
  return error.exit_code();
}
