#include "document/places.hpp"

#include <algorithm>

#include "base/suggest.hpp"
#include "document/record.hpp"

namespace sluice {
namespace {

constexpr std::size_t most = 3;
constexpr int deepest = 6;

void add(std::vector<std::string>& places, const std::string& place) {
  if (places.size() < most && std::find(places.begin(), places.end(), place) == places.end())
    places.push_back(place);
}

void add_allowed(std::vector<std::string>& places, std::string_view key, const Record& record) {
  for (const Field& field : record.fields) {
    if (field.type != Type::mapping || !field.record || field.map_of) continue;
    for (const Field& inner : field.record->fields)
      if (inner.name == key) add(places, field.name + "." + inner.name);
  }
}

/// `path` leads to a key in a scenario whose model is written into it, under `definition`. Returns
/// the path by which the author of a scenario sets this key. A model declares its parameters inside
/// `definition`, but a scenario sets their values beside `definition`.
std::string as_written(const std::string& path) {
  constexpr std::string_view declared = "model.definition.parameters.";
  return path.compare(0, declared.size(), declared) == 0 ? "model." + path.substr(declared.size())
                                                         : path;
}

void add_present(std::vector<std::string>& places, std::string_view key, const Value& map,
                 const std::string& way, int depth) {
  if (depth > deepest) return;
  for (const Value::Entry& entry : map.entries()) {
    const std::string path = way.empty() ? entry.key : way + "." + entry.key;
    if (entry.key == key && !way.empty()) add(places, as_written(path));
    add_present(places, key, entry.value, path, depth + 1);
  }
}

}  // namespace

std::vector<std::string> places_of(std::string_view key, const Value& map, const Record* record) {
  std::vector<std::string> places;
  if (record) add_allowed(places, key, *record);
  add_present(places, key, map, "", 0);
  return places;
}

std::string did_you_mean_at(std::string_view key, const std::vector<std::string>& known,
                            const std::vector<std::string>& places) {
  if (places.empty()) return did_you_mean(key, known);
  return " (did you mean '" + join(places, "' or '") + "'?)";
}

}  // namespace sluice
