// Writes a trace as an HDF5 file while the simulation runs, with a fixed amount of memory. FORMAT.md describes the
// file.
//
// The file appears under its name only when it is complete. Until then it is called NAME.part (part_file.hpp). A
// background thread compresses and writes the data, so the simulation only copies each span. If the process forks,
// create the writer after the fork: a child process does not have the threads of its parent. The constructor throws
// IoError if the target cannot be written. The other functions throw IoError if the disk is full. NAME.part is removed
// if a function throws, or if a writer is destroyed before finish().
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "trace/header.hpp"
#include "trace/labels.hpp"
#include "trace/series.hpp"
#include "trace/span.hpp"
#include "trace/summary.hpp"

namespace sluice {

class TraceWriter final : public Sink {
 public:
  /// Only tests set `chunk_rows`, the number of rows of a chunk. The content hash does not depend on it.
  TraceWriter(const std::string& path, TraceHeader header, Labels labels,
              std::size_t chunk_rows = 32768);
  ~TraceWriter() override;

  void span(const Span& span) override;
  void memory(const MemoryEvent& event) override;
  /// Stores a repetition as a fold if it has very many spans (Repetition::is_folded). Otherwise writes its spans and
  /// events.
  void repeat(const Repetition& repetition) override;

  /// Writes all remaining data, and gives the file its name. Call this function once. `answer` replaces the header's
  /// answer, for a caller who learns the answer after the writer was created.
  void finish(TraceStatus status, const Summary& summary, const SeriesTable& series,
              const std::string& answer = {});
  /// Returns the content hash of the finished file.
  const std::string& content_sha256() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
