// A recording holds the whole content of a trace file in one piece of memory. Another process can map this memory, and
// use the columns without a copy. Numbers are little-endian, and each column begins at a multiple of 64 bytes. The
// bytes are:
//
//   bytes 0..7    "SLUICE01"
//   bytes 8..15   the length of the JSON text, as a number of 64 bits
//   then          the JSON text. It has status, header, summary, metrics and units (as in
//                 `sluice run --json`), series, and the list of columns. An element of this list is
//                 [name, type, rows, offset, bytes]. An offset counts bytes from the first multiple
//                 of 64 behind the JSON text.
//   then          the columns. The type of a column is "text" or a type of NumPy such as "<f8". In a
//                 column of texts, each text ends with a NUL.
#pragma once

#include <vector>

#include "base/memory_file.hpp"
#include "trace/hdf5/reader.hpp"
#include "trace/header.hpp"
#include "trace/labels.hpp"
#include "trace/series.hpp"
#include "trace/span.hpp"
#include "trace/summary.hpp"

namespace sluice {

struct Recording {
  TraceStatus status = TraceStatus::complete;
  TraceHeader header;  ///< the header without its provenance
  Labels labels;
  std::vector<Span> spans;
  std::vector<MemoryEvent> memory;  ///< sorted by pool
  Summary summary;
  SeriesTable series;
};

/// Packs the recording into memory that another process can map. Throws IoError if there is not enough
/// memory.
MemoryFile packed(const Recording& recording);
/// Returns the same bytes as packed(), but as a string that can be sent to another process.
std::string bytes_of(const Recording& recording);
/// Reads a recording. Throws InternalError if the bytes are not a recording.
Recording recording_from(std::string_view bytes);

/// Returns only the metrics of a recording. Throws InternalError if the bytes are not a recording.
Summary summary_of(std::string_view bytes);

/// Returns the content of a trace file. Throws the exceptions of TraceReader.
Recording recording_of(const TraceReader& trace);
/// Writes the recording as a trace file at `path`. Throws IoError.
void write_trace(const Recording& recording, const std::string& path,
                 const std::string& command_line);

/// Sorts events by pool. A recording holds its events in this order.
void sort_by_pool(std::vector<MemoryEvent>& events);

}  // namespace sluice
