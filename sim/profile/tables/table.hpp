// Tables of other programs that are read as profiles. A table is read by a function or by a map of its columns, a
// sluice-profile-map/1 document. Users can write such a map, too. Each table has one file, and tables/catalog.cpp lists
// the tables.
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
  /// Columns by which the table is recognised; all of them must be there.
  std::vector<std::string> heading = {};
  std::string ending = {};  ///< if there is no heading: the end of the file's name
  std::string map = {};     ///< a sluice-profile-map/1 document
  Profile (*read)(const std::shared_ptr<const Source>& source) = nullptr;
};

const Catalog<ForeignTable>& foreign_tables();

/// Reads a table by the map at that path. If the path is empty, the table of the catalog that knows the heading is
/// used. Throws InputError if no table knows the heading, or if a cell is not valid. Throws IoError.
Profile read_foreign_table(const std::shared_ptr<const Source>& source, const std::string& map);

/// Reads a table by a map that has been read from a document. Throws InputError.
Profile read_by_map(const CsvTable& table, const Value& map);

}  // namespace sluice
