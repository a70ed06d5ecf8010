// Mixed-integer linear programmes: minimise cost · x within bounds and linear constraints, some x
// whole. The only user of CBC (COIN-OR branch and cut), which stays silent and leaves the program's
// signal handlers alone.
//
// Throws InternalError on a malformed programme, Interrupted on a signal.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

class OsiClpSolverInterface;  // of CBC

namespace sluice {

struct MilpSolution {
  bool feasible = false;  ///< values hold a solution
  bool proven = false;    ///< … that is optimal; or: it is proven that there is none (better)
  std::vector<double> values;  ///< by variable; whole ones exactly so
  double objective = std::numeric_limits<double>::infinity();
  double bound = -std::numeric_limits<double>::infinity();  ///< no solution is below it

  /// (objective - bound) / objective, 0 where proven.
  double gap() const;
};

class Milp {
 public:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  using Terms = std::vector<std::pair<std::uint32_t, double>>;  ///< variable, factor

  /// Each returns the number of the new variable.
  std::uint32_t real(double low, double high, double cost = 0);
  std::uint32_t whole(double low, double high, double cost = 0);

  /// low <= terms <= high; a variable may stand in several terms.
  void constrain(double low, const Terms& terms, double high);

  /// Stops after `time_limit_s` of wall clock (a moment later, where CBC is in the middle of
  /// something) with the best found so far, which may be nothing; what is found then
  /// depends on the machine. Looks only for solutions better than `at_most`.
  MilpSolution solve(double time_limit_s, double at_most = infinity) const;

 private:
  struct Column {
    double low, high, cost;
    bool whole;
  };
  struct Row {
    double low, high;
    Terms terms;
  };
  void load(OsiClpSolverInterface& solver) const;
  bool holds(const std::vector<double>& values) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace sluice
