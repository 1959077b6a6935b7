// ModelRow: a network in the registry. ModelRequest: the data for which a network is made.
// Rows are immutable; `make` is thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/text/spec_option.h"
#include "base/text/text.h"
#include "graph/network.h"
#include "tensor/shape.h"

namespace trireme::models {

// The shapes of a sample's inputs. One that is not there is a user error, of the network that asks for it.
class InputShapes : public std::vector<tensor::Shape> {
 public:
  using std::vector<tensor::Shape>::vector;
  InputShapes(std::vector<tensor::Shape> shapes) : std::vector<tensor::Shape>(std::move(shapes)) {}

  const tensor::Shape& operator[](std::size_t i) const;
};

struct ModelRequest {
  InputShapes inputs{};      // per sample; empty: the model's default
  std::int64_t classes = 0;  // outputs of the last layer; 0: the model's default
  // The kind of target: "classes" (softmax and cross-entropy over class indices), "labels" (sigmoid and cross-entropy,
  // any number of labels per sample) or "values" (squared error).
  std::string target = "classes";
};

// The loss for the request's target; an unknown target is a user error.
ops::OpPtr loss_for(const ModelRequest& request);

// Makes the finished network. REQUIRES: the request has inputs and classes.
using MakeNetwork = std::function<graph::Network(const ModelRequest& request)>;

struct ModelRow {
  std::string name;
  std::string summary;
  // Defaults for requests that leave them open; inputs are per sample. Other sizes are allowed, other numbers or ranks
  // of inputs are not. Models of files may leave them empty: they take what the data gives.
  std::vector<tensor::Shape> inputs{};
  std::int64_t classes = 10;
  std::int64_t batch = 64;  // the global batch without --batch
  MakeNetwork make{};
  bool any_shape = false;  // takes one input of any rank; `inputs` is only a default
  // For models with options ("mlp:hidden=64,dropout=0.1"): what they are, and the function that reads them and makes
  // the networks of that name. Without it a model takes no options.
  std::vector<base::SpecOption> options{};
  std::function<MakeNetwork(base::Spec& options, const std::string& name)> configure{};
};

}  // namespace trireme::models
