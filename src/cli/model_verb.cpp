// `trireme model`: shows a network layer by layer, draws its graph, or writes its description for people to go on from.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/process/child_process.h"
#include "base/system/clock.h"
#include "base/system/files.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "graph/description/network_json.h"
#include "graph/description/network_table.h"
#include "models/files/model_file.h"
#include "train/experiment/model_choice.h"

namespace trireme::cli {
namespace {

using Option = base::OptionSpec;

constexpr std::array kModelOptions{
    Option{"Which network", "input", "SHAPES", "",
           "shapes of a sample's inputs, such as 3x32x32 or 1x28x28,10; default: the network's own"},
    Option{"Which network", "classes", "N", "0", "outputs of the last layer; 0: the network's own"},
    Option{"Which network", "target", "KIND", "classes", "what the outputs predict: classes, labels or values"},
    Option{"What to do", "batch", "N", "0", "show: samples per oar for bytes and kernels; 0: a batch in default oars"},
    Option{"What to do", "dot", "FILE", "", "show: also write the graph as a DOT file"},
    Option{"What to do", "svg", "FILE", "", "show: also draw the graph, with Graphviz's program dot"},
    Option{"What to do", "format", "toml|json", "toml", "export: for people, or the description of run folders"},
};

constexpr double kDrawSeconds = 60;

struct Chosen {
  models::ModelRow row;
  models::ModelRequest request;
  graph::Network network;
};

// `name`: of the zoo, or a file.
Chosen choose(const train::Registry& registry, const base::Settings& settings, const std::string& name) {
  models::ModelRow row = train::named_model(registry, name);
  const std::array<std::string, 3> targets{"classes", "labels", "values"};
  models::ModelRequest request{.inputs = row.inputs,
                               .classes = settings.integer("classes", 0, std::int64_t{1} << 30),
                               .target = settings.choice("target", targets)};
  if (const std::string& inputs = settings.text("input"); !inputs.empty()) {
    request.inputs.clear();
    for (const std::string& shape : base::split(inputs, ',')) {
      std::vector<std::int64_t> sizes;
      if (shape.empty())
        base::user_error("--input is '{}', expected the shape of each input, such as 3x32x32 or 1x28x28,10", inputs);
      for (const std::string& size : base::split(shape, 'x')) sizes.push_back(base::parse_int("--input", size));
      request.inputs.emplace_back(std::move(sizes));
    }
  }
  if (request.classes == 0) request.classes = row.classes;
  graph::Network network = models::build_model(row, request);
  return {std::move(row), std::move(request), std::move(network)};
}

std::string absent_file(const base::Settings& settings, const char* option) {
  const std::string& name = settings.text(option);
  if (!name.empty()) base::check_new_file(fmt::format("--{}", option), name);
  return name;
}

// A DOT text, drawn as SVG by Graphviz.
std::string drawn_svg(const std::string& dot, const std::string& svg) {
  base::ChildProcess graphviz({.arguments = {"dot", "-Tsvg"}, .environment = {}});
  const std::int64_t deadline = base::in_seconds(kDrawSeconds);
  const bool is_written = graphviz.write(dot, deadline);
  graphviz.close_input();
  if (!graphviz.wait(deadline) || !is_written || graphviz.exit_code() != 0) {
    if (graphviz.exit_code() == base::ChildProcess::kCannotStart)
      base::user_error("--svg needs Graphviz (apt install graphviz); --dot FILE writes the graph without it");
    base::run_error("Graphviz could not draw {}: {}", svg, graphviz.error_text());
  }
  return graphviz.output();
}

void show_model(const train::Registry& registry, const base::Settings& settings, const std::string& name) {
  const std::string dot = absent_file(settings, "dot"), svg = absent_file(settings, "svg");
  const Chosen chosen = choose(registry, settings, name);
  std::int64_t samples = settings.integer("batch", 0, 1 << 20);
  if (samples == 0) {
    const int oars = graph::default_oars(chosen.network, chosen.row.batch);
    samples = (chosen.row.batch + oars - 1) / oars;
  }
  const std::string text = dot.empty() && svg.empty() ? "" : graph::network_dot(chosen.network);
  const std::string drawn = svg.empty() ? "" : drawn_svg(text, svg);  // fails, if at all, before anything is written
  fmt::print("{}", graph::network_table(chosen.network, samples));
  if (!dot.empty()) base::write_text_atomically(dot, text);
  if (!svg.empty()) base::write_text_atomically(svg, drawn);
}

void export_model(const train::Registry& registry, const base::Settings& settings, const std::string& name) {
  const std::array<std::string, 2> formats{"toml", "json"};
  const bool is_toml = settings.choice("format", formats) == "toml";
  const Chosen chosen = choose(registry, settings, name);
  fmt::print("{}", is_toml ? models::model_toml(chosen.row, chosen.request, chosen.network)
                           : graph::network_json(chosen.network));
}

int run_model(const train::Registry& registry, const base::Settings& settings, const Arguments& arguments) {
  const std::string what = first_of(arguments);
  const std::array<std::string, 2> known{"show", "export"};
  if (what.empty()) base::user_error("say what to do with which network, as in: trireme model show resnet20-cifar");
  if (std::ranges::find(known, what) == known.end())
    base::user_error("{}", base::unknown_name("model command", what, known));
  if (arguments.size() < 2)
    base::user_error("say which network, as in: trireme model {} resnet20-cifar, or {} mine.toml", what, what);
  (what == "show" ? show_model : export_model)(registry, settings, arguments[1]);
  return 0;
}

}  // namespace

Verb model_verb() {
  return {"model",
          "show a network layer by layer, or export it to a file",
          "Examples:\n"
          "  trireme model show resnet20-cifar\n"
          "  trireme model show mine.toml --input 3x64x64 --classes 4 --svg mine.svg\n"
          "  trireme model export resnet20-cifar > mine.toml",
          kModelOptions,
          "what network",
          run_model,
          {},
          {"show", "export"}};
}

}  // namespace trireme::cli
