// Finds the steady state of a running plan. The search records the state of the run once per iteration. As soon as the
// state repeats, whole periods can be skipped. A Jump says how many seconds, iterations and rows of the trace are
// skipped.
//
// A recorded state holds times as seconds before or after the time of the clock. In the same way, it counts iterations
// from the present iteration, and rows of the trace from the present row. So the states of two iterations can be equal.
// Two states are equal if all their numbers are equal. Times count as equal if they differ by no more than the rounding
// of the clock. Suppose that a state has repeated twice in succession, each time after the same number of iterations
// and seconds. Then this state repeats until the last iterations. The reason is that waits and counts of uses reach
// back only a few iterations. So the future of the run depends on the state alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sluice {

/// The recorded state of a running plan. Each part of an executor adds its own state.
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

/// Returns the largest difference that rounding can make between two times near `now`, if each of them is a sum of
/// `executions` terms. The error of a sum of n terms is about sqrt(n) times the error of one rounding.
double rounding_of(double now, std::int64_t executions);

/// The length of a period, or of several periods that are skipped at once.
struct Jump {
  std::int64_t iterations = 0;
  double seconds = 0;
  std::int64_t rows = 0;
};

/// Finds the period of a run. The search compares the states of some consecutive iterations. If these states do not
/// repeat, the search pauses for many iterations. So the search takes little time even if no state ever repeats.
class PeriodSearch {
 public:
  /// The longest period that the search finds, in iterations.
  static constexpr std::int64_t longest = 12;

  /// Begins the search at the iteration `first`.
  explicit PeriodSearch(std::int64_t first) : begin_(first) {}

  bool wants(std::int64_t iteration) const { return iteration >= begin_; }
  /// Adds a state. If this state ends a period for the second time in succession, returns the period.
  std::optional<Jump> add(Snapshot snapshot);
  /// Returns the number of states that were recorded since the search began or resumed.
  std::size_t states() const { return states_.size(); }

 private:
  std::int64_t begin_;  ///< the iteration at which the search begins or resumes
  std::vector<Snapshot> states_;
};

}  // namespace sluice
