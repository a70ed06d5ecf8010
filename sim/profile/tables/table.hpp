// Reads tables of other programs as profiles. For each kind of table there is a function that reads it, or a map: a
// sluice-profile-map/1 document that says what the columns mean. Users can also write maps. The folder tables/ has a
// file for each source of tables, and tables/catalog.cpp lists all kinds.
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
  /// The names of columns by which a table of this kind is recognised: the table has all these columns.
  std::vector<std::string> heading = {};
  std::string ending = {};  ///< the end of the file's name, for a table without a heading
  std::string map = {};     ///< a sluice-profile-map/1 document
  Profile (*read)(const std::shared_ptr<const Source>& source) = nullptr;
};

const Catalog<ForeignTable>& foreign_tables();

/// Reads a table by the map at the path `map`. If the path is empty, the kind of the table is looked up in the catalog,
/// by the heading of the table or by the end of the file's name. Throws InputError if no kind matches, or if a cell is
/// not valid. Throws IoError.
Profile read_foreign_table(const std::shared_ptr<const Source>& source, const std::string& map);

/// Reads a table by a map. `map` is the content of a sluice-profile-map/1 document. Throws InputError.
Profile read_by_map(const CsvTable& table, const Value& map);

}  // namespace sluice
