// Importers convert a file of another program to a sluice-model/1 document, which is then read like
// any other. Each importer is one record; catalog.cpp lists them. These files are not trusted. All
// functions throw InputError, with the place in the file if it is known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalog.hpp"
#include "base/processes.hpp"
#include "document/record.hpp"

namespace sluice {

/// What an importer has made of a file.
struct Imported {
  Value definition;                ///< a sluice-model/1 document
  std::vector<std::string> notes;  ///< what a person should know: what was left out, and why
};

struct Importer {
  std::string name;
  std::string summary;
  std::string source;             ///< source of the format
  std::string ending;             ///< the ending of the files' names
  std::vector<Field> parameters;  ///< keys that a scenario may give beside the file
  bool open = false;  ///< whether the importer takes further keys, which it checks itself
  /// Whether the file is read in a child process, because a foreign library reads it.
  bool isolated = false;
  /// `path` is used only for messages and names; `read` does not open it.
  Imported (*read)(std::string_view bytes, const std::string& path, const Reader& keys) = nullptr;
};

const Catalog<Importer>& importer_catalog();

/// Returns the importer for a file with this name. Throws InputError that lists the known endings.
const Importer& importer_for(const std::string& path);

/// Returns the limits for reading a file of that many bytes in a child process. A damaged file may keep a foreign
/// library busy. With the limits, such a file is refused after seconds.
ChildLimits reading_limits(std::uintmax_t bytes);

/// If the definition of `use` (a scenario's `model:`, after includes and overrides) is the file of another program,
/// reads that file and replaces the definition by the imported document. The other keys of `use` are then the
/// importer's keys. They are removed, so that `use` has only the keys that any model may have. Returns the importer's
/// notes. Throws InputError, IoError.
std::vector<std::string> import_definition(Value& use);

}  // namespace sluice
