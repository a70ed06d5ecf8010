// The catalog of export formats. To add a format, add a file beside this one and a line here.
#include "trace/export/export.hpp"

namespace sluice {

// clang-format off
const Catalog<ExportFormat>& export_catalog() {
  static const Catalog<ExportFormat> catalog("export format", {
      SLUICE_ENTRY(ExportFormat, perfetto_export),
      SLUICE_ENTRY(ExportFormat, chrome_export),
      SLUICE_ENTRY(ExportFormat, csv_export),
      SLUICE_ENTRY(ExportFormat, data_island_export),
  });
  return catalog;
}
// clang-format on

}  // namespace sluice
