// Reads the spans and events that a trace file stores. Also computes the spans and events of a fold's repetitions. Only
// sim/trace uses this code. The caller holds hdf5::lock(), except for repeat_spans() and repeat_events(). Throws
// hdf5::Failure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trace/hdf5/columns.hpp"
#include "trace/hdf5/folds.hpp"
#include "trace/labels.hpp"
#include "trace/span.hpp"

namespace sluice {

/// The number of rows that are read or passed on in one block.
inline constexpr std::int64_t block_rows = 32768;

class StoredSpans {
 public:
  /// `all` is the number of all spans, including the repetitions of all folds. The cause of a span is a number from 0
  /// to `all` - 1. `without_causes` is true for a file of version 1.0, which has no causes.
  StoredSpans(const FileReader& file, const Labels& labels, bool without_causes, std::uint64_t all);
  std::int64_t rows() const { return static_cast<std::int64_t>(columns_.rows()); }
  /// Reads `count` rows, beginning with row `first`, into `block`, and replaces the content of `block`.
  void read(std::int64_t first, std::int64_t count, std::vector<Span>& block) const;

  std::vector<Span> period(const Fold& fold) const;

 private:
  Columns columns_;
  std::size_t actions_, pools_;
  bool without_causes_;
  std::uint64_t all_;
};

/// Returns the path of the group that has a pool's events.
std::string events_group(const Labels& labels, std::uint32_t pool);

class StoredEvents {
 public:
  StoredEvents(const FileReader& file, const Labels& labels, std::uint32_t pool);
  std::int64_t rows() const { return static_cast<std::int64_t>(columns_.rows()); }
  void read(std::int64_t first, std::int64_t count, std::vector<MemoryEvent>& block) const;

 private:
  Columns columns_;
  std::size_t tensors_;
  std::uint32_t pool_;
};

/// Computes the spans of all repetitions of a fold, as Sink::repeat() does, and passes them to `take` in blocks.
void repeat_spans(const Fold& fold, const std::vector<Span>& period, const Labels& labels,
                  const std::function<void(const std::vector<Span>&)>& take);
/// Computes the events of one pool in all repetitions of a fold, as Sink::repeat() does. Passes these events to `take`
/// in blocks. `period` holds the events of one period for each pool.
void repeat_events(const Fold& fold, const std::vector<std::vector<MemoryEvent>>& period,
                   std::uint32_t pool,
                   const std::function<void(const std::vector<MemoryEvent>&)>& take);

}  // namespace sluice
