#include "fuzz/model_targets.h"

#include "graph/description/network_json.h"
#include "models/files/model_file.h"
#include "models/zoo.h"

namespace trireme::fuzz {
namespace {

void read_model(std::span<const std::uint8_t> bytes, const char* file) {
  static const ops::OpRegistry ops = ops::builtin_ops();
  const std::string text(bytes.begin(), bytes.end());
  const models::ModelRow row = models::model_from_text(ops, text, file);
  (void)models::build_model(row, {.inputs = row.inputs.empty() ? std::vector<tensor::Shape>{{3, 8, 8}} : row.inputs});
}

Bytes bytes_of_text(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace

void read_model_toml(std::span<const std::uint8_t> bytes) { read_model(bytes, "net.toml"); }

std::vector<Bytes> model_toml_seeds() {
  const models::ModelRequest request{.inputs = {{3, 32, 32}}, .classes = 10};
  const models::ModelRegistry zoo = models::builtin_models();
  const models::ModelRow& lenet = zoo.get("lenet5");
  return {bytes_of_text(models::model_toml(lenet, request, models::build_model(lenet, request))),
          bytes_of_text(
              "oars = 4\nlayers = [{name = \"b\", repeat = 2, layers = [\"conv:channels=4,kernel=3x3,padding=1\", "
              "{op = \"add\", inputs = [\"conv1\", \"conv1\"]}]}, \"flatten\", \"dropout:rate=0.5\", {op = "
              "\"dense\", outputs = \"classes\", l2 = 1e-4}]\nloss = \"squared_error\"\n")};
}

void read_model_json(std::span<const std::uint8_t> bytes) { read_model(bytes, "network.json"); }

std::vector<Bytes> model_json_seeds() {
  return {bytes_of_text(graph::network_json(models::build_model("lenet5"))),
          bytes_of_text(graph::network_json(models::build_model("redshift-cnn")))};
}

}  // namespace trireme::fuzz
