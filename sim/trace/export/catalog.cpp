#include "trace/export/export.hpp"

namespace sluice {

const Catalog<ExportFormat>& export_catalog() {
  static const Catalog<ExportFormat> catalog("export format",
                                             {
                                                 SLUICE_ENTRY(ExportFormat, perfetto_export),
                                                 SLUICE_ENTRY(ExportFormat, chrome_export),
                                                 SLUICE_ENTRY(ExportFormat, csv_export),
                                                 SLUICE_ENTRY(ExportFormat, data_island_export),
                                             });
  return catalog;
}

}  // namespace sluice
