// A trace in the format of another program, with the tables that the trace alone does not give.
#pragma once

#include <string>
#include <vector>

#include "trace/export/export.hpp"

namespace sluice {

/// What a file of this format can hold, the first by default: of a data island also `layers`, the
/// stage table of the model that was run, as 'AlexNet on one card' has it. None: there is no
/// choice.
std::vector<std::string> tables_of(const ExportFormat& format);

/// Throws what the format does, and InputError for the layers of a plan, which names none.
void export_trace(const TraceReader& trace, const ExportFormat& format, const std::string& table,
                  const Write& write);

}  // namespace sluice
