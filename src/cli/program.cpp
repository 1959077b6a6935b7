#include <trireme/program.h>

#include <fmt/core.h>

#include <vector>

#include "base/error.h"
#include "base/system/standard_streams.h"
#include "cli/cli.h"
#include "train/builtin_registry.h"
#include "watch/formats/tensorboard_sink.h"
#include "watch/page/page_sink.h"

namespace trireme {
namespace {

template <class Row>
void add_rows(const char* what, const std::vector<Row>& rows, base::RegistryOf<Row>& registry) {
  for (const Row& row : rows) {
    if (row.name.empty()) base::user_error("this program adds a {} without a name", what);
    if (registry.find(row.name) != nullptr)
      base::user_error("this program adds the {} '{}', but there is one of that name; choose another", what, row.name);
    registry.add(row);
  }
}

void check_complete(const models::ModelRow& row) {
  if (!row.make) base::user_error("the model '{}' of this program has no function that makes it", row.name);
  if (row.inputs.empty())
    base::user_error(
        "the model '{}' of this program has no .inputs; give the shape of each input of a sample, as in "
        ".inputs = {{{{1, 28, 28}}}}",
        row.name);
  if (row.classes < 1 || row.batch < 1)
    base::user_error("the model '{}' of this program has {} classes and a batch of {}; expected 1 or more of each",
                     row.name, row.classes, row.batch);
}

}  // namespace

struct Program::Rows {
  std::vector<models::ModelRow> models;
  std::vector<ops::OpRow> ops;
  std::vector<data::DatasetRow> datasets;
  std::vector<data::FormatRow> formats;
  std::vector<data::CodecRow> codecs;
  std::vector<optim::OptimizerRow> optimizers;

  void add_to(train::Registry& registry) const {
    for (const models::ModelRow& row : models) check_complete(row);
    add_rows("model", models, registry.models);
    add_rows("op", ops, registry.ops);
    add_rows("dataset", datasets, registry.readers.datasets);
    add_rows("format", formats, registry.readers.formats);
    add_rows("packing", codecs, registry.readers.codecs);
    add_rows("optimizer", optimizers, registry.optimizers);
  }
};

Program::Program() : rows_(std::make_unique<Rows>()) {}
Program::~Program() = default;

void Program::add_model(models::ModelRow row) { rows_->models.push_back(std::move(row)); }
void Program::add_op(ops::OpRow row) { rows_->ops.push_back(std::move(row)); }
void Program::add_dataset(data::DatasetRow row) { rows_->datasets.push_back(std::move(row)); }
void Program::add_format(data::FormatRow row) { rows_->formats.push_back(std::move(row)); }
void Program::add_codec(data::CodecRow row) { rows_->codecs.push_back(std::move(row)); }
void Program::add_optimizer(optim::OptimizerRow row) { rows_->optimizers.push_back(std::move(row)); }

int Program::run(int argc, char** argv) {
  train::Registry registry = train::builtin_registry();
  registry.sinks.add(watch::page_sink());
  try {
    add_rows("sink", watch::format_sinks(), registry.sinks);
    rows_->add_to(registry);
  } catch (const base::Error& error) {
    base::print_error(error.what());
    return error.exit_code();
  }
  return cli::run(registry, argc, argv);
}

}  // namespace trireme
