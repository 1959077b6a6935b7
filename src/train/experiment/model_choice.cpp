#include "train/experiment/model_choice.h"

#include "base/system/files.h"
#include "models/files/model_file.h"
#include "models/find_model.h"

namespace trireme::train {

std::optional<ModelText> read_model_file(const base::Settings& settings) {
  const std::string& name = settings.text("model");
  if (!models::is_model_file(name)) return std::nullopt;
  return ModelText{name, base::read_text(name)};
}

models::ModelRow choose_model(const Registry& registry, const base::Settings& settings,
                              const std::optional<ModelText>& text) {
  if (text) return models::model_from_text(registry.ops, text->text, text->file);
  return models::find_model(registry.models, settings.text("model"));
}

models::ModelRow named_model(const Registry& registry, const std::string& name) {
  if (models::is_model_file(name)) return models::model_from_text(registry.ops, base::read_text(name), name);
  return models::find_model(registry.models, name);
}

}  // namespace trireme::train
