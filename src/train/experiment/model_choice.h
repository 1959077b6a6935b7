// The model of a run: of the registry, of a file (--model FILE), or the description in a run folder.
// Thread-safe.
#pragma once

#include <optional>
#include <string>

#include "base/text/options.h"
#include "train/experiment/registry.h"

namespace trireme::train {

// A file that describes a network: its name and its text. Process 0 reads it and sends it to the others.
struct ModelText {
  std::string file;
  std::string text;
};

// The file that --model names, or nothing if it names a model of the registry.
std::optional<ModelText> read_model_file(const base::Settings& settings);

// The model of a file's text, else the one that the settings name.
models::ModelRow choose_model(const Registry& registry, const base::Settings& settings,
                              const std::optional<ModelText>& text);

// The model of this name: of the registry, or of a file.
models::ModelRow named_model(const Registry& registry, const std::string& name);

}  // namespace trireme::train
