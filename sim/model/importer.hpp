// An importer converts a file of another program to a sluice-model/1 document, which is then read like other documents.
// Each importer is one Importer object, and catalog.cpp lists all importers. The files may be damaged or malicious. All
// functions throw InputError. If the position of the fault in the file is known, the error has it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalog.hpp"
#include "base/processes.hpp"
#include "document/record.hpp"

namespace sluice {

/// What an importer makes of a file.
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
  /// Whether the importer also takes keys that are not in `parameters`. If so, the importer itself checks these keys.
  bool open = false;
  /// Whether the file is read in a child process, because the library that reads it might crash.
  bool isolated = false;
  /// Converts `bytes`, the content of a file. `path` is only for messages and names.
  Imported (*read)(std::string_view bytes, const std::string& path, const Reader& keys) = nullptr;
};

const Catalog<Importer>& importer_catalog();

/// Returns the importer for a file with this name. If no importer reads such files, throws an InputError that lists the
/// known endings.
const Importer& importer_for(const std::string& path);

/// Returns the limits of the child process that reads a file of this many bytes. A library might never finish reading a
/// damaged file. So the limits end the child process after some seconds.
ChildLimits reading_limits(std::uintmax_t bytes);

/// `use` is the `model:` of a scenario, after includes and overrides. If its definition is a file of another program,
/// imports the file. The imported document replaces the definition. The keys of the importer are removed from `use`.
/// Keys that are allowed for every model stay in `use`. Returns the importer's notes. Throws InputError, IoError.
std::vector<std::string> import_definition(Value& use);

}  // namespace sluice
