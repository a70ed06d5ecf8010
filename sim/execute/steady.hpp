// The steady state: what is written down of a running plan, once an iteration, to see that it
// repeats, and by how much all of it moves when whole periods are left out. Seconds.
//
// A state is written relative to the clock, to the iteration, and to the trace's row: two states
// are the same when their numbers are, and their times to the rounding of the clock. What was the
// same twice in a row, after as many iterations and seconds, stays so until iterations run out:
// what happens depends on nothing else (waits and use counts look at most `reach` iterations away).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

/// A state. Its parts write themselves down in it.
struct Snapshot {
  std::int64_t iteration = 0;  ///< that the others are relative to
  double now = 0;
  std::int64_t row = 0;
  std::vector<std::int64_t> numbers;
  std::vector<double> times;

  void add(std::int64_t number) { numbers.push_back(number); }
  void add_iteration(std::int64_t i) { numbers.push_back(i - iteration); }
  void add_row(std::int64_t r) { numbers.push_back(r < 0 ? r : r - row); }
  void add_time(double time) { times.push_back(time - now); }
};

/// Whole periods that are left out.
struct Jump {
  std::int64_t iterations = 0;
  double seconds = 0;
  std::int64_t rows = 0;
};

/// Finds the period: looks at some iterations in a row, and when they do not repeat, again much
/// later, so that what never repeats costs little.
class PeriodSearch {
 public:
  static constexpr std::int64_t longest = 12;  ///< iterations

  /// From this iteration on.
  explicit PeriodSearch(std::int64_t first) : begin_(first) {}

  bool wants(std::int64_t iteration) const { return iteration >= begin_; }
  /// The period that ends with this state, once it has been seen twice.
  std::optional<Jump> add(Snapshot snapshot);
  /// How many states of the present look there are: 1 after its first.
  std::size_t states() const { return states_.size(); }

 private:
  std::int64_t begin_;  ///< of the present look
  std::vector<Snapshot> states_;
};

}  // namespace sluice
