// The catalog of tables of other programs. Sluice recognises a table of another program by the heading of the table. To
// add a table, add a file in this folder and a line here.
#include "profile/tables/table.hpp"

namespace sluice {

// clang-format off
const Catalog<ForeignTable>& foreign_tables() {
  static const Catalog<ForeignTable> catalog("table", {
      SLUICE_ENTRY(ForeignTable, gemm_table),
      SLUICE_ENTRY(ForeignTable, neusight_products_table),
      SLUICE_ENTRY(ForeignTable, neusight_rows_table),
      SLUICE_ENTRY(ForeignTable, a30_table),
      SLUICE_ENTRY(ForeignTable, placement_table),
      SLUICE_ENTRY(ForeignTable, pipedream_table),
  });
  return catalog;
}
// clang-format on

}  // namespace sluice
