// Reads a trace (FORMAT.md). Throws IoError if the file is missing, unreadable or being written. Throws InputError if
// the file is not a trace, is damaged or cut short, or was never finished. Also throws InputError if the version of the
// file is too new. The reader does not follow links to other files. But a stranger can make a file that crashes the
// HDF5 library. So read files from strangers in a separate process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trace/header.hpp"
#include "trace/labels.hpp"
#include "trace/series.hpp"
#include "trace/span.hpp"
#include "trace/summary.hpp"

namespace sluice {

class TraceReader {
 public:
  explicit TraceReader(const std::string& path);
  ~TraceReader();
  TraceReader(const TraceReader&) = delete;
  TraceReader& operator=(const TraceReader&) = delete;

  const std::string& path() const;
  TraceStatus status() const;
  const TraceHeader& header() const;
  const std::string& content_sha256() const;
  const std::string& scenario_sha256() const;
  const Labels& labels() const;

  Summary summary() const;
  SeriesTable series() const;

  /// Returns the number of spans, including the repetitions for which the file has only folds.
  std::uint64_t span_count() const;
  bool is_folded() const;  ///< whether the file has folds
  /// Reads all spans in blocks and in order, including the repetitions for which the file has only folds.
  void spans(const std::function<void(const std::vector<Span>&)>& take) const;
  std::uint64_t event_count(std::uint32_t pool) const;
  /// Reads all events of one pool in blocks, including the repetitions for which the file has only folds.
  void memory(std::uint32_t pool,
              const std::function<void(const std::vector<MemoryEvent>&)>& take) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
