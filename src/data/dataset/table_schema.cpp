#include "data/dataset/table_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace trireme::data {
namespace {

using SchemaJson = nlohmann::ordered_json;

SchemaJson column_to_json(const TableColumn& column) {
  SchemaJson json{{"column", column.place + 1}};
  if (!column.name.empty()) json["name"] = column.name;
  if (!column.words.empty()) json["words"] = column.words;
  if (column.fill) json["fill"] = *column.fill;
  return json;
}

TableColumn column_from_json(const SchemaJson& json, std::int64_t width) {
  TableColumn column{json.value("name", ""), json.at("column").get<std::int64_t>() - 1,
                     json.value("words", std::vector<std::string>()), std::nullopt};
  if (json.contains("fill")) column.fill = json.at("fill").get<float>();
  if (column.place < 0 || column.place >= width || !std::ranges::is_sorted(column.words))
    throw std::invalid_argument("an impossible column");
  return column;
}

}  // namespace

std::int64_t input_values(const TableSchema& schema) {
  std::int64_t values = 0;
  for (const TableColumn& column : schema.inputs) values += std::max<std::int64_t>(1, std::ssize(column.words));
  return values;
}

bool make_same_inputs(const TableSchema& a, const TableSchema& b) {
  const bool by_name = a.has_names && b.has_names;
  return std::ranges::equal(a.inputs, b.inputs, [&](const TableColumn& x, const TableColumn& y) {
    return x.words == y.words && (!by_name || x.name == y.name);
  });
}

bool is_plain(const TableSchema& schema) {
  return !schema.has_names && std::ssize(schema.inputs) == schema.width - 1 && schema.targets.size() == 1 &&
         schema.targets[0].place == schema.width - 1 &&
         std::ranges::all_of(schema.inputs,
                             [](const TableColumn& column) { return column.words.empty() && !column.fill; });
}

std::string column_text(const TableColumn& column) {
  const std::string place = fmt::format("column {}", column.place + 1);
  return column.name.empty() ? place : fmt::format("{} ('{}')", place, column.name);
}

std::string to_json(const TableSchema& schema) {
  SchemaJson json{{"columns", schema.width}, {"header", schema.has_names}};
  for (const auto& [name, columns] : {std::pair("inputs", &schema.inputs), std::pair("targets", &schema.targets)}) {
    json[name] = SchemaJson::array();
    for (const TableColumn& column : *columns) json[name].push_back(column_to_json(column));
  }
  if (!schema.ignored.empty()) json["ignored"] = schema.ignored;
  return json.dump();
}

TableSchema schema_from_json(std::string_view text) {
  const SchemaJson json = SchemaJson::parse(text);
  TableSchema schema{json.at("columns"), json.at("header"), {}, {}, json.value("ignored", std::vector<std::string>())};
  for (const SchemaJson& column : json.at("inputs")) schema.inputs.push_back(column_from_json(column, schema.width));
  for (const SchemaJson& column : json.at("targets")) schema.targets.push_back(column_from_json(column, schema.width));
  if (schema.inputs.empty() || schema.targets.empty()) throw std::invalid_argument("a table without columns");
  return schema;
}

}  // namespace trireme::data
