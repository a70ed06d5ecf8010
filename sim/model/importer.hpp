// Importers turn a file of another program into a sluice-model/1 document, which then is read like
// any other. Each importer is one record; importer.cpp lists them. All functions throw InputError,
// at the place in the file where there is one: these files are not trusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalog.hpp"
#include "base/processes.hpp"
#include "document/record.hpp"

namespace sluice {

/// The result of an import.
struct Imported {
  Value definition;                ///< a sluice-model/1 document
  std::vector<std::string> notes;  ///< what a person should know: what was left out, and why
};

struct Importer {
  std::string name;
  std::string summary;
  std::string source;             ///< source of the format
  std::string ending;             ///< with which the files' names end
  std::vector<Field> parameters;  ///< keys that may be given beside the file
  bool open = false;              ///< takes further keys, which it checks itself
  bool isolated = false;          ///< reads in a child process, because a foreign library does the
                                  ///< work
  /// `path` is only for messages and names; `read` does not open it.
  Imported (*read)(std::string_view bytes, const std::string& path, const Reader& keys) = nullptr;
};

const Catalog<Importer>& importer_catalog();

/// The importer for a file with this name. Throws InputError that lists the known endings.
const Importer& importer_for(const std::string& path);

/// The limits for reading a file of that many bytes in a child process: a damaged file that keeps a
/// foreign library busy for long is refused after seconds.
ChildLimits reading_limits(std::uintmax_t bytes);

/// Where the definition of `use` (a scenario's `model:`, after includes and overrides) is the file
/// of another program: reads the file, with the other keys of `use` as the importer's keys, and
/// replaces the definition by the imported document. Afterwards `use` has only the keys that any
/// model may have. Returns the importer's notes. Throws InputError, IoError.
std::vector<std::string> import_definition(Value& use);

}  // namespace sluice
