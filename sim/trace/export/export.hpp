// Exports a trace to the formats of other programs. There are timelines that people can open, and rows for
// spreadsheets. Each format has one file and one line in catalog.cpp.
//
// Exports are written as a stream, so their memory does not grow with the number of spans.
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
  std::vector<std::string> tables = {};  ///< of a format of one table: the first is the default
  /// `table` is one of `tables`, or empty if there are none. Throws InputError if the trace
  /// contradicts itself, Interrupted on a signal, and what the reader and `write` throw.
  void (*write)(const TraceReader& trace, const std::string& table, const Write& write) = nullptr;
};

const Catalog<ExportFormat>& export_catalog();

}  // namespace sluice
