// OpRow: the registry's entry of an op: its name, its options, and how to make it from text. Immutable, so thread-safe.
//
// A network description names ops by text such as "conv:channels=16,kernel=3x3,padding=1"; op_text() writes it.
// To add an op, write its file with a row, and add one line to builtin_ops.cpp.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/registry.h"
#include "base/text/spec_option.h"
#include "base/text/text.h"
#include "ops/core/op.h"

namespace trireme::ops {

struct OpRow {
  std::string name;  // equals Op::kind()
  std::string summary;
  std::vector<base::SpecOption> options{};  // all that `make` reads
  // Reads the options; mistakes are user errors.
  std::function<OpPtr(base::Spec& spec)> make;
};
using OpRegistry = base::RegistryOf<OpRow>;

OpRegistry builtin_ops();

// "dense:outputs=10" -> the op. An unknown op or option is a user error with the nearest known name.
OpPtr make_op(const OpRegistry& registry, std::string_view text);
// The text from which make_op() makes an equal op.
std::string op_text(const Op& op);

}  // namespace trireme::ops
