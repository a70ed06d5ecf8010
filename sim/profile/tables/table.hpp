// Reads tables of other programs as profiles. A table is read by a function, or by a map of its columns. Such a map is
// a sluice-profile-map/1 document. Users can also write maps. Each table has one file, and tables/catalog.cpp lists the
// tables.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/catalog.hpp"
#include "profile/csv_table.hpp"
#include "profile/profile.hpp"

namespace sluice {

struct ForeignTable {
  std::string name;
  std::string summary;
  std::string source;
  /// The columns by which the table is recognised. Each table of this kind has all these columns.
  std::vector<std::string> heading = {};
  std::string ending = {};  ///< the end of the file's name, for a table without a heading
  std::string map = {};     ///< a sluice-profile-map/1 document
  Profile (*read)(const std::shared_ptr<const Source>& source) = nullptr;
};

const Catalog<ForeignTable>& foreign_tables();

/// Reads a table by the map at the path `map`. If the path is empty, the heading or the end of the file's name gives
/// the kind of the table in the catalog. Throws InputError if no table matches, and at a cell that is not valid. Throws
/// IoError.
Profile read_foreign_table(const std::shared_ptr<const Source>& source, const std::string& map);

/// Reads a table by a map that has been read from a document. Throws InputError.
Profile read_by_map(const CsvTable& table, const Value& map);

}  // namespace sluice
