// A network of your own with the whole of trireme: "mine" has two branches, which look at the image with small and with
// large kernels; their channels are joined. For instance
//   own_network train --model mine --data fashion-mnist --workers 3 --strategy ps:mode=sync --run runs/a
//   own_network eval --run runs/a
#include <trireme/network.h>
#include <trireme/program.h>

trireme::Network two_branches(const trireme::ModelRequest& data) {
  trireme::Network net("mine");
  const auto image = net.input("image", data.inputs[0]);
  const auto fine = net.add("fine", trireme::conv({.channels = 8, .kernel = {3, 3}, .padding = {1, 1}}), {image});
  const auto coarse = net.add("coarse", trireme::conv({.channels = 8, .kernel = {7, 7}, .padding = {3, 3}}), {image});
  auto x = net.add("relu", trireme::relu(), {net.add("join", trireme::concat(), {fine, coarse})});
  x = net.add("flatten", trireme::flatten(), {net.add("pool", trireme::max_pool({.kernel = {4, 4}}), {x})});
  net.finish(net.add("fc", trireme::dense({.outputs = data.classes}), {x}), trireme::loss_for(data));
  return net;
}

int main(int argc, char** argv) {
  trireme::Program program;
  program.add_model({.name = "mine",
                     .summary = "two branches of convolutions with small and large kernels",
                     .inputs = {{1, 28, 28}},
                     .make = two_branches});
  return program.run(argc, argv);
}
