#include "model/importer.hpp"

#include "document/foreign.hpp"
#include "model/catalog.hpp"

namespace sluice {

const Catalog<Importer>& importer_catalog() {
  static const Catalog<Importer> catalog("importer", {
                                                         SLUICE_ENTRY(Importer, onnx_importer),
                                                         SLUICE_ENTRY(Importer, pipedream_importer),
                                                     });
  return catalog;
}

const Importer& importer_for(const std::string& path) {
  std::vector<std::string> endings;
  for (const Importer* importer : importer_catalog().entries()) {
    if (ends_with(path, importer->ending)) return *importer;
    endings.push_back(importer->ending);
  }
  throw InputError(Position{path, 0, 0, ""},
                   "no importer reads a file of that name; known endings: " + join(endings));
}

namespace {

bool is_of_any_model(const std::string& key) {
  for (const Field& field : model_use_record().fields)
    if (field.name == key) return true;
  return false;
}

Record record_of(const Importer& importer) {
  return {.name = "model from " + importer.ending,
          .summary = importer.summary,
          .fields = importer.parameters,
          .open = importer.open};
}

}  // namespace

std::vector<std::string> import_definition(Value& use) {
  const Value* definition = use.find("definition");
  const std::string* found = definition ? foreign_path(*definition) : nullptr;
  if (!found) return {};
  if (definition->entries().size() != 1)
    fail_at(definition->entries()[1].value,
            "nothing can be laid over '" + *found +
                "': make a model of it with sluice import, and lay it over that");
  const std::string path = *found;
  const Importer& importer = importer_for(path);
  Value own = Value::make_map(), rest = Value::make_map();
  const Position where = use.position();
  own.place(use.source(), where.line, where.column);
  rest.place(use.source(), where.line, where.column);
  for (Value::Entry& entry : use.entries()) {
    Value& to = is_of_any_model(entry.key) ? rest : own;
    to.entries().push_back(std::move(entry));
  }
  const Record record = record_of(importer);
  Imported imported = importer.read(read_regular_file(path), path, Reader(own, record));
  rest.set("definition", std::move(imported.definition));
  use = std::move(rest);
  return std::move(imported.notes);
}

}  // namespace sluice
