// Exports a trace in the format of another program. This header also exports tables that need more data than the trace
// contains.
#pragma once

#include <string>
#include <vector>

#include "trace/export/export.hpp"

namespace sluice {

/// Returns the names of the tables that a file of this format can hold; the first is the default. A data island can
/// also hold `layers`, the stage table of the model that was run, as in 'AlexNet on one card'. Returns an empty list if
/// the format has only one kind of table.
std::vector<std::string> tables_of(const ExportFormat& format);

/// Writes the trace in the given format. Throws the exceptions of the export. Throws InputError if the table `layers`
/// is requested for the trace of a plan file, because a plan file does not name its layers.
void export_trace(const TraceReader& trace, const ExportFormat& format, const std::string& table,
                  const Write& write);

}  // namespace sluice
