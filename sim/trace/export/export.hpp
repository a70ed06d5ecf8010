// Exports a trace to the formats of other programs: timelines that people can look at, and rows for spreadsheets. Each
// format has one file and one line in catalog.cpp.
//
// An export is written piece by piece. So the memory does not grow with the number of spans.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/catalog.hpp"
#include "trace/hdf5/reader.hpp"

namespace sluice {

/// Receives the next piece of an export.
using Write = std::function<void(std::string_view)>;

struct ExportFormat {
  std::string name;
  std::string summary;  ///< one sentence
  std::string source;   ///< the description of the format
  bool binary = false;
  /// For a format whose files hold only one table each: the tables from which the user chooses. The first table is the
  /// default. Empty for all other formats.
  std::vector<std::string> tables = {};
  /// Writes the trace in this format. `table` is one of `tables`, or empty if `tables` is empty. Throws InputError if
  /// the trace contradicts itself, and Interrupted on a signal. Exceptions of the reader and of the parameter `write`
  /// reach the caller.
  void (*write)(const TraceReader& trace, const std::string& table, const Write& write) = nullptr;
};

const Catalog<ExportFormat>& export_catalog();

}  // namespace sluice
