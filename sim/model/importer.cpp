#include "model/importer.hpp"

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>

#include "base/packed_strings.hpp"
#include "document/foreign.hpp"
#include "document/key.hpp"
#include "document/load.hpp"
#include "document/packed_value.hpp"
#include "model/catalog.hpp"
#include "model/read.hpp"

namespace sluice {

namespace {

std::vector<std::string> endings() {
  std::vector<std::string> all;
  for (const Importer* importer : importer_catalog().entries()) all.push_back(importer->ending);
  return all;
}

[[maybe_unused]] const bool endings_are_set = (set_foreign_endings(endings), true);

}  // namespace

const Importer& importer_for(const std::string& path) {
  for (const Importer* importer : importer_catalog().entries())
    if (path.ends_with(importer->ending)) return *importer;
  throw InputError(Position{path, 0, 0, ""},
                   "no importer reads a file with this name; known endings: " + join(endings()));
}

ChildLimits reading_limits(std::uintmax_t bytes) {
  // In one second, Sluice reads 1 MB of a file with small nodes, but only 100 kB of a file with large nodes. The limit
  // of seconds assumes 100 kB per second.
  constexpr std::uintmax_t bytes_per_s = 100'000;
  const auto more_s = static_cast<std::int64_t>(std::min<std::uintmax_t>(bytes / bytes_per_s, 280));
  return {.more_bytes = std::int64_t{4} << 30, .cpu_s = 20 + more_s};
}

namespace {

bool is_of_any_model(const std::string& key) {
  return find_field(model_use_record().fields, key) != nullptr;
}

/// Sets the file as the source of all values. The file is not a text, so the values get no line numbers.
void place_in(Value& value, const std::shared_ptr<const Source>& file) {
  value.place(file, 0, 0);
  for (Value& item : value.items()) place_in(item, file);
  for (Value::Entry& entry : value.entries()) {
    entry.line = entry.column = 0;
    place_in(entry.value, file);
  }
}

Imported read_here(const Importer& importer, const std::string& path, const Reader& keys) {
  try {
    return importer.read(read_regular_file(path), path, keys);
  } catch (const InputError& error) {
    if (error.has_position()) throw;
    throw InputError(Position{path, 0, 0, ""}, error.what());
  }
}

std::uintmax_t read_size(const std::string& path) {
  // If the size cannot be read, the error comes later, when the file is read.
  std::error_code unreadable;
  const std::uintmax_t bytes = std::filesystem::file_size(path, unreadable);
  return unreadable ? 0 : bytes;
}

Record record_of(const Importer& importer) {
  return {.name = "model from " + importer.ending,
          .summary = importer.summary,
          .fields = importer.parameters,
          .open = importer.open};
}

/// Does what a child process does that imports a file. The child also reads the layers of the resulting document,
/// because errors in them name places in the file, and only the child knows these places. The request has the name of
/// the importer, the path of the file, and the keys of the importer.
std::string import_in_child(std::string_view request) {
  const std::vector<std::string_view> parts = unpack(request);
  const Importer& importer = importer_catalog().find(std::string(parts.at(0)));
  const std::string path(parts.at(1));
  const Value given = value_from(parts.at(2));
  const Record record = record_of(importer);
  try {
    const Imported imported = read_here(importer, path, Reader(given, record));
    read_layers(imported.definition, Value::make_map(), Purpose::training);
    Value notes = Value::make_list();
    for (const std::string& note : imported.notes) notes.items().push_back(Value::make(note));
    Value all = Value::make_map();
    all.set("definition", imported.definition);
    all.set("notes", std::move(notes));
    return to_json(all, 0);
  } catch (const std::bad_alloc&) {
    throw InputError(
        Position{path, 0, 0, ""},
        "reading this file takes more than 4 GiB of memory; import a smaller model, or "
        "export the model without its weights");
  }
}

const ChildWork import_work("import", import_in_child);

Imported read_in_child(const Importer& importer, const std::string& path, const Reader& keys) {
  std::string answer;
  try {
    answer = run_isolated(import_work, pack({importer.name, path, packed(keys.map())}),
                          reading_limits(read_size(path)));
  } catch (const ChildDied& died) {
    throw InputError(Position{path, 0, 0, ""},
                     "the library that reads such files failed on this file (" +
                         std::string(died.what()) +
                         "); the file may be damaged: copy it again, or export the model again");
  }
  Value all = parse_text(std::move(answer), path);
  Imported imported;
  for (const Value& note : all.find("notes")->items()) imported.notes.push_back(note.text());
  imported.definition = std::move(*all.find("definition"));
  place_in(imported.definition, std::make_shared<const Source>(Source{path, ""}));
  return imported;
}

}  // namespace

std::vector<std::string> import_definition(Value& use) {
  const Value* definition = use.find("definition");
  const std::string* found = definition ? foreign_path(*definition) : nullptr;
  if (!found) return {};
  if (definition->entries().size() != 1)
    fail_at(definition->entries()[1].value,
            "keys cannot be added to the file '" + *found +
                "': convert it with sluice import, and add the keys to the result");
  const std::string path = *found;
  const Importer& importer = importer_for(path);
  Value own = Value::make_map(), rest = Value::make_map();
  const Position where = use.position();
  rest.place(use.source(), where.line, where.column);
  // If a key is missing, the error names the place in the scenario at which the file is used. If no scenario uses the
  // file, the error names the file.
  own.place(use.source() ? use.source() : std::make_shared<const Source>(Source{path, ""}),
            where.line, where.column);
  for (Value::Entry& entry : use.entries()) {
    Value& to = is_of_any_model(entry.key) ? rest : own;
    to.entries().push_back(std::move(entry));
  }
  const Record record = record_of(importer);
  const Reader keys(own, record);
  Imported imported =
      importer.isolated ? read_in_child(importer, path, keys) : read_here(importer, path, keys);
  rest.set("definition", std::move(imported.definition));
  use = std::move(rest);
  return std::move(imported.notes);
}

}  // namespace sluice
