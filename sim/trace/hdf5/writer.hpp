// Writes a trace as an HDF5 file while the simulation runs, with fixed memory. FORMAT.md describes
// the file.
//
// The target appears whole or not at all (part_file.hpp). A background thread compresses and
// writes, so that a span costs the simulation a copy; create the writer after any fork. Throws
// IoError: from the constructor when the target cannot be written, later when the disk is full; the
// .part is then gone. A writer that is destroyed unfinished leaves nothing behind.
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
  /// `chunk_rows` is for tests: the content hash does not depend on it.
  TraceWriter(const std::string& path, TraceHeader header, Labels labels,
              std::size_t chunk_rows = 32768);
  ~TraceWriter() override;

  void span(const Span& span) override;
  void memory(const MemoryEvent& event) override;
  /// Very many spans (Repetition::is_folded) are stored as a fold.
  void repeat(const Repetition& repetition) override;

  /// Writes the rest and gives the file its name; called once. `answer` replaces the header's,
  /// where it was not known before.
  void finish(TraceStatus status, const Summary& summary, const SeriesTable& series,
              const std::string& answer = {});
  /// The content hash of the finished file.
  const std::string& content_sha256() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
