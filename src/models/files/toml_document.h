// TomlDocument: the TOML text of a network, read and checked as far as that goes without the data.
// Immutable once read, so thread-safe.
#pragma once

#include <toml++/impl/forward_declarations.h>

#include <memory>
#include <string>
#include <vector>

#include "ops/core/op_registry.h"
#include "tensor/shape.h"

namespace trireme::models {

// The name of a file, for errors, and readers of values that name the line.
struct TomlSource {
  std::string file;

  [[noreturn]] void fail(const toml::node& node, const std::string& sentence) const;
  std::int64_t whole(const toml::node& node, const std::string& what, std::int64_t least, std::int64_t most) const;
  std::string text(const toml::node& node, const std::string& what) const;
  void check_keys(const toml::table& table, const std::vector<std::string>& known) const;
};

struct TomlInput {
  std::string name;
  tensor::Shape shape;  // empty: as the data gives it
};

struct TomlDocument {
  ops::OpRegistry ops;
  TomlSource source;
  std::shared_ptr<const toml::table> table;
  std::string name;
  std::vector<TomlInput> inputs;
};

// Parses the text and reads name, initialiser and inputs. Mistakes are user errors with file and line.
TomlDocument read_toml_document(const ops::OpRegistry& ops, const std::string& text, const std::string& file);

}  // namespace trireme::models
