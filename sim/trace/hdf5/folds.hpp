// A fold stands for a steady state that is too long to be written. The file keeps one period of the steady state and
// the number of its repetitions. FORMAT.md describes the tables. Only sim/trace uses this code, and the caller holds
// hdf5::lock().
#pragma once

#include <cstdint>
#include <vector>

#include "trace/hdf5/chunk_filter.hpp"
#include "trace/hdf5/file_reader.hpp"
#include "trace/hdf5/tree.hpp"
#include "trace/span.hpp"

namespace sluice {

/// A range of rows of a table in the file.
struct StoredRows {
  std::int64_t first = 0, count = 0;
  std::int64_t end() const { return first + count; }
};

struct Fold {
  StoredRows spans;        ///< the spans of one period
  std::int64_t times = 0;  ///< how often the period is repeated
  /// The seconds from the start of one repetition to the start of the next repetition.
  double seconds = 0;
  /// The number of iterations of the body in one repetition.
  std::int64_t iterations = 0;
  std::vector<StoredRows> pools;     ///< the events of the period, one entry per pool
  std::vector<std::uint32_t> order;  ///< the pool of each event of the period
};

/// Collects the folds. Also counts the spans that have been written so far, and the events of each pool.
class FoldWriter {
 public:
  explicit FoldWriter(std::size_t pools) : events_(pools, 0) {}
  void span() { ++spans_; }
  void event(std::uint32_t pool) { ++events_[pool]; }
  /// Adds a fold for `repetition`. The rows that were written last must be the rows of the repeated period.
  void add(const Repetition& repetition);
  bool empty() const { return folds_.empty(); }
  /// Writes the group /folds. Throws hdf5::Failure.
  void write(Tree& tree, ChunkFilter& filter) const;

 private:
  std::int64_t spans_ = 0;
  std::vector<std::int64_t> events_;  ///< the number of events of each pool
  std::vector<Fold> folds_;
};

/// Reads the folds of a trace. The result is empty if the trace has no folds. Throws hdf5::Failure if the folds do not
/// match the stored spans and events. Also throws if the expanded trace would have more than 2^62 rows.
std::vector<Fold> read_folds(const FileReader& file, std::int64_t spans,
                             const std::vector<std::int64_t>& events);

}  // namespace sluice
