// Exports a trace in the format of another program, with tables that the trace alone does not
// contain.
#pragma once

#include <string>
#include <vector>

#include "trace/export/export.hpp"

namespace sluice {

/// The tables that a file of this format can hold. The first is the default. A data island can also hold `layers`,
/// the stage table of the model that was run, as in 'AlexNet on one card'. Empty: the format has only one kind of
/// table.
std::vector<std::string> tables_of(const ExportFormat& format);

/// Throws what the format throws. Throws InputError for the layers of a plan file, since a plan names no layers.
void export_trace(const TraceReader& trace, const ExportFormat& format, const std::string& table,
                  const Write& write);

}  // namespace sluice
