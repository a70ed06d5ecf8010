// Importers convert a file of another program to a sluice-model/1 document, which is then read like other documents.
// Each importer is one record, and catalog.cpp lists the importers. The files are not trusted. All functions throw
// InputError, with the position in the file if it is known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalog.hpp"
#include "base/processes.hpp"
#include "document/record.hpp"

namespace sluice {

/// The result of an importer for a file.
struct Imported {
  Value definition;  ///< a sluice-model/1 document
  /// Notes for the user, for example about parts that were left out.
  std::vector<std::string> notes;
};

struct Importer {
  std::string name;
  std::string summary;
  std::string source;             ///< the source in which the format is described
  std::string ending;             ///< the ending of the files' names
  std::vector<Field> parameters;  ///< keys that a scenario may give in addition to the file
  /// Whether the importer also takes keys that are not in `parameters`. The importer then checks these keys itself.
  bool open = false;
  /// Whether the file is read in a child process, in case the importer's library fails.
  bool isolated = false;
  /// Converts the content of a file. `path` is for messages and names only: the function does not open the file.
  Imported (*read)(std::string_view bytes, const std::string& path, const Reader& keys) = nullptr;
};

const Catalog<Importer>& importer_catalog();

/// Returns the importer for a file with this name. If there is none, throws an InputError with the known endings.
const Importer& importer_for(const std::string& path);

/// Returns the limits for reading a file of this many bytes in a child process. A library may never finish reading a
/// damaged file. So the limits end the child process after some seconds.
ChildLimits reading_limits(std::uintmax_t bytes);

/// Imports the definition of `use` if the definition is a file of another program. `use` is the `model:` of a scenario,
/// after includes and overrides. The imported document replaces the definition. The importer's keys are removed from
/// `use`. Only keys that any model may have are left. Returns the importer's notes. Throws InputError, IoError.
std::vector<std::string> import_definition(Value& use);

}  // namespace sluice
