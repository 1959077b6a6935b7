// Data of your own: "spirals" are points of the plane on two spirals, which a small network tells apart.
//   own_reader data info --data spirals
//   own_reader train --model points --data spirals --optimizer adam:lr=0.01 --epochs 20
#include <trireme/data.h>
#include <trireme/network.h>
#include <trireme/program.h>

#include <cmath>
#include <random>

// A reader fills memory and describes it; column_source() makes the dataset. Every process of a run calls it, and the
// same seed must give the same points.
trireme::DatasetPtr spirals(std::int64_t samples, std::uint64_t seed) {
  struct Memory {
    std::vector<float> points;
    std::vector<std::uint8_t> labels;
  };
  const auto memory = std::make_shared<Memory>();
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (std::int64_t i = 0; i < samples; ++i) {
    const double way = std::sqrt(uniform()), angle = 7 * way + (i % 2 == 0 ? 0 : M_PI);
    memory->points.push_back(static_cast<float>(way * std::cos(angle) + 0.02 * uniform()));
    memory->points.push_back(static_cast<float>(way * std::sin(angle) + 0.02 * uniform()));
    memory->labels.push_back(static_cast<std::uint8_t>(i % 2));
  }
  trireme::Columns columns;
  columns.samples = samples;
  columns.inputs = {{{2}, trireme::ValueType::real, trireme::column_data(memory->points)}};
  columns.target = {{1}, trireme::ValueType::byte, trireme::column_data(memory->labels)};
  columns.memory = memory;
  return trireme::column_source({.inputs = {{2}}, .classes = 2, .class_names = {"left", "right"}}, columns);
}

trireme::DataPair open_spirals(const trireme::DataRequest& request) {
  const std::int64_t train = request.train_samples > 0 ? request.train_samples : 4000;
  const std::int64_t test = request.test_samples > 0 ? request.test_samples : 1000;
  return {spirals(train, 2 * request.seed), spirals(test, 2 * request.seed + 1)};
}

trireme::Network points(const trireme::ModelRequest& data) {
  trireme::Network net("points");
  auto x = net.input("point", data.inputs[0]);
  for (const char* layer : {"hidden1", "hidden2"})
    x = net.add(std::string(layer) + ".tanh", trireme::tanh(), {net.add(layer, trireme::dense({.outputs = 32}), {x})});
  net.finish(net.add("out", trireme::dense({.outputs = data.classes}), {x}), trireme::loss_for(data));
  return net;
}

int main(int argc, char** argv) {
  trireme::Program program;
  program.add_dataset({.name = "spirals", .summary = "points on two spirals, 2 classes", .open = open_spirals});
  program.add_model({.name = "points",
                     .summary = "two hidden layers over a few numbers",
                     .inputs = {{2}},
                     .classes = 2,
                     .make = points});
  return program.run(argc, argv);
}
