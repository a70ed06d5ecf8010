#include <charconv>
#include <sstream>

#include "model/importer.hpp"

namespace sluice {
namespace {

/// Reads a line of the file. The line gives the number of elements of a layer's output.
std::int64_t elements_in(const std::string& line, const Position& where) {
  std::int64_t elements = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), elements);
  if (error != std::errc() || end != line.data() + line.size() || elements < 1)
    throw InputError(where, "'" + line + "' is not a positive number of elements");
  return elements;
}

Value layer_of(const std::string& type, const std::string& key, Value value) {
  Value layer = Value::make_map();
  layer.set("type", Value::make(type));
  layer.set(key, std::move(value));
  return layer;
}

/// The first line is the input, and each line after the first is a dense layer.
Imported read(std::string_view bytes, const std::string& path, const Reader&) {
  Value layers = Value::make_list();
  std::istringstream in{std::string(bytes)};
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    Value elements = Value::make(elements_in(line, Position{path, number, 1, line}));
    if (number == 1) {
      Value shape = Value::make_list();
      shape.items().push_back(std::move(elements));
      layers.items().push_back(layer_of("input", "shape", std::move(shape)));
    } else {
      layers.items().push_back(layer_of("dense", "features", std::move(elements)));
    }
  }
  Value model = Value::make_map();
  model.set("format", Value::make(std::string("sluice-model/1")));
  model.set("name", Value::make(std::string("imported")));
  model.set("layers", std::move(layers));
  return {.definition = std::move(model), .notes = {}};
}

}  // namespace

extern const Importer example_importer;
const Importer example_importer = {
    .name = "example",
    .summary = "",
    .source = "",
    .ending = ".example",
    .parameters = {},
    .read = read,
};

}  // namespace sluice
