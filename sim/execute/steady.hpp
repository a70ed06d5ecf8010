// The steady state of a running plan. The plan's state is recorded once per iteration, to find out when it repeats.
// Then whole periods can be skipped. A Jump says how many seconds and iterations are skipped.
//
// A state is recorded relative to the clock, to the iteration and to the row of the trace, so that the states of two
// iterations can be equal. Two states are equal when their numbers are equal, and their times equal up to the rounding
// of the clock. Suppose that a state has come back twice in a row, after the same number of iterations and seconds.
// Then it comes back until the iterations run out, because what happens depends on nothing else (waits and use counts
// reach back at most `reach` iterations).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

/// A state of a running plan. Each part of an executor writes its own state into it.
struct Snapshot {
  std::int64_t iteration = 0;  ///< the iteration to which the other numbers are relative
  double now = 0;
  std::int64_t row = 0;
  std::vector<std::int64_t> numbers;
  std::vector<double> times;

  void add(std::int64_t number) { numbers.push_back(number); }
  void add_iteration(std::int64_t i) { numbers.push_back(i - iteration); }
  void add_row(std::int64_t r) { numbers.push_back(r < 0 ? r : r - row); }
  void add_time(double time) { times.push_back(time - now); }
};

/// The largest difference that rounding can make between two sums of seconds at this time of the clock. A sum of n
/// terms is off by about sqrt(n) roundings.
double rounding_of(double now, std::int64_t executions);

/// The length of a period, or of several periods that are skipped at once.
struct Jump {
  std::int64_t iterations = 0;
  double seconds = 0;
  std::int64_t rows = 0;
};

/// Finds the period. It compares the states of some consecutive iterations. When they do not repeat, it tries again
/// much later, so that a plan that never repeats costs little.
class PeriodSearch {
 public:
  static constexpr std::int64_t longest = 12;  ///< iterations

  /// Searches from this iteration on.
  explicit PeriodSearch(std::int64_t first) : begin_(first) {}

  bool wants(std::int64_t iteration) const { return iteration >= begin_; }
  /// Adds a state. Returns the period that ends with this state, once that period has been seen twice.
  std::optional<Jump> add(Snapshot snapshot);
  /// The number of states in the present series.
  std::size_t states() const { return states_.size(); }

 private:
  std::int64_t begin_;  ///< first iteration of the present series
  std::vector<Snapshot> states_;
};

}  // namespace sluice
