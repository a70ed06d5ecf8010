// Exports a trace in the format of another program. This header also exports tables that need more data than the trace
// contains.
#pragma once

#include <string>
#include <vector>

#include "trace/export/export.hpp"

namespace sluice {

/// Returns the names of the tables that a file of this format can hold. The first name is the default. A data island
/// can also hold `layers`: the stage table of the model, as in 'AlexNet on one card'. If the format has only one kind
/// of table, the list is empty.
std::vector<std::string> tables_of(const ExportFormat& format);

/// Writes the trace in the given format. Throws the exceptions of the export. A plan file does not name its layers.
/// Throws InputError if the table `layers` is requested for the trace of a plan file.
void export_trace(const TraceReader& trace, const ExportFormat& format, const std::string& table,
                  const Write& write);

}  // namespace sluice
