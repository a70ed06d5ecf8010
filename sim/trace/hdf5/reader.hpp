// Reads a trace (FORMAT.md). Throws IoError when the file is missing, unreadable or being written,
// InputError when it is no trace, is cut short or damaged, is of a newer version, or was never
// finished. Follows no link out of the file. HDF5 itself may crash on a file that was made to crash
// it: read files from strangers in a process of their own.
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

  std::uint64_t span_count() const;  ///< those that folds stand for included
  bool is_folded() const;            ///< is a steady state kept as one period and its count?
  /// All spans in blocks, those that folds stand for where they belong.
  void spans(const std::function<void(const std::vector<Span>&)>& take) const;
  std::uint64_t event_count(std::uint32_t pool) const;
  /// All events of one pool in blocks, likewise.
  void memory(std::uint32_t pool,
              const std::function<void(const std::vector<MemoryEvent>&)>& take) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
