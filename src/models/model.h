// ModelRow: how the registry knows a network. ModelRequest: the data that one is made for. Rows are immutable, and
// `make` may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graph/network.h"
#include "tensor/shape.h"

namespace trireme::models {

struct ModelRequest {
  std::vector<tensor::Shape> inputs{};  // per sample; empty: the model's default
  std::int64_t classes = 0;             // outputs of the last layer; 0: the model's default
  // What is learnt: "classes" (softmax and cross-entropy over class indices), "labels" (sigmoid and cross-entropy, any
  // number of labels per sample) or "values" (squared error).
  std::string target = "classes";
};

// The loss that belongs to the request's target; an unknown one is a user error.
ops::OpPtr loss_for(const ModelRequest& request);

struct ModelRow {
  std::string name;
  std::string summary;
  // The data that it is made for where nothing else is asked for; per sample. Other sizes may be asked for, other
  // numbers or ranks of inputs may not.
  std::vector<tensor::Shape> inputs{};
  std::int64_t classes = 10;
  std::int64_t batch = 64;  // the global batch without --batch
  // Makes the finished network. The request is complete: it has inputs and classes.
  std::function<graph::Network(const ModelRequest& request)> make{};
};

}  // namespace trireme::models
