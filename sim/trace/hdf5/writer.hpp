// Writes a trace as an HDF5 file while the simulation runs. It uses a fixed amount of memory.
// FORMAT.md describes the file.
//
// The target appears whole or not at all (part_file.hpp). A background thread compresses and writes, so that a span
// costs the simulation only a copy. Create the writer after any fork, because a child would lack its thread. The
// constructor throws IoError if the target cannot be written. Other functions throw IoError if the disk is full, and
// the .part file is then gone. A writer that is destroyed before finish() leaves nothing behind.
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
  /// Stores very many spans (Repetition::is_folded) as a fold.
  void repeat(const Repetition& repetition) override;

  /// Writes the rest and gives the file its name. Call this once. `answer` replaces the header's answer, if that was
  /// not known before.
  void finish(TraceStatus status, const Summary& summary, const SeriesTable& series,
              const std::string& answer = {});
  /// Returns the content hash of the finished file.
  const std::string& content_sha256() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
