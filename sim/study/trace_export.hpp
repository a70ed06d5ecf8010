// Exports a trace in the format of another program. The code here adds the table `layers` to the tables of
// sim/trace/export. This table needs more data than the trace contains.
#pragma once

#include <string>
#include <vector>

#include "trace/export/export.hpp"

namespace sluice {

/// Returns the names of the tables that a file of this format can hold. The first name is the default. If the format
/// has only one kind of table, the list is empty. Otherwise, the last name is `layers`: the stage table of the model
/// (models/FORMAT.md).
std::vector<std::string> tables_of(const ExportFormat& format);

/// Writes the trace in the given format. Throws the exceptions of ExportFormat::write. Throws InputError if the table
/// `layers` is requested for the trace of a plan file, because a plan file does not name layers.
void export_trace(const TraceReader& trace, const ExportFormat& format, const std::string& table,
                  const Write& write);

}  // namespace sluice
