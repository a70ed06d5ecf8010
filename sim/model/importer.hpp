// Importers: from a file of another program to a sluice-model/1 document, which then is read like
// any other. One record an importer; importer.cpp lists them. Everything throws InputError, at the
// place in the file where there is one: these files are not trusted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/catalog.hpp"
#include "document/record.hpp"

namespace sluice {

/// What an importer makes of a file.
struct Imported {
  Value definition;                ///< a sluice-model/1 document
  std::vector<std::string> notes;  ///< what a person should know: what was left out, and why
};

struct Importer {
  std::string name;
  std::string summary;
  std::string source;             ///< of the format
  std::string ending;             ///< of the files' names
  std::vector<Field> parameters;  ///< keys beside the file
  bool open = false;              ///< takes further keys, which it checks itself
  bool isolated = false;          ///< reads in a child process: a library of others does the work
  /// `path` is for messages and names; nothing is read from it.
  Imported (*read)(std::string_view bytes, const std::string& path, const Reader& keys) = nullptr;
};

const Catalog<Importer>& importer_catalog();

/// The importer for a file of that name. Throws InputError that lists the endings known.
const Importer& importer_for(const std::string& path);

/// Where `use` (a scenario's `model:`, after includes and overrides) has the file of another
/// program as its definition: reads it, with the other keys of `use` as the importer's, and puts in
/// its place what the importer made of it. Afterwards `use` has no keys but those of any model.
/// Returns the importer's notes. Throws InputError, IoError.
std::vector<std::string> import_definition(Value& use);

}  // namespace sluice
