// Mixed-integer linear programmes minimise cost · x within bounds and linear constraints, where some x are
// integers. Only this code uses CBC (COIN-OR branch and cut). It keeps CBC silent and the program's signal handlers
// untouched.
//
// The functions throw InternalError on a malformed programme, and Interrupted on a signal.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

class OsiClpSolverInterface;  // a class of CBC

namespace sluice {

struct MilpSolution {
  bool feasible = false;       ///< values hold a solution
  bool proven = false;         ///< the solution is optimal; without a solution: none exists
  std::vector<double> values;  ///< by variable; integer variables have exact integers
  double objective = std::numeric_limits<double>::infinity();
  double bound = -std::numeric_limits<double>::infinity();  ///< no solution has a lower objective

  /// (objective - bound) / objective; 0 where the solution is proven.
  double gap() const;
};

/// The solution of the programme in which integer variables may have fractional values.
struct RelaxedSolution {
  bool solved = false;  ///< false: impossible, unbounded, or more iterations than were allowed
  double objective = 0;
  std::vector<double> values;  ///< by variable
  std::vector<double> duals;   ///< by constraint: change of the objective per unit of its limit
};

struct MilpLimits {
  static constexpr int unlimited = std::numeric_limits<int>::max();
  double seconds = std::numeric_limits<double>::infinity();  ///< wall clock: see solve()
  int nodes = unlimited;                                     ///< nodes of branch and bound
};

class Milp {
 public:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  using Terms = std::vector<std::pair<std::uint32_t, double>>;  ///< (variable, factor)

  /// Each returns the number of the new variable.
  std::uint32_t real(double low, double high, double cost = 0);
  std::uint32_t whole(double low, double high, double cost = 0);

  /// low <= terms <= high; a variable may appear in several terms. Returns the constraint's number.
  std::uint32_t constrain(double low, const Terms& terms, double high);

  /// Returns the best solution that is found within the limits. There may be none. CBC may run a moment beyond a
  /// limit. With a limit of seconds the result depends on the speed of the machine. Only solutions with an objective
  /// below `at_most` are searched for. The proof of an objective is exact to within 1e-9 of the greatest cost of a
  /// variable.
  MilpSolution solve(MilpLimits limits, double at_most = infinity) const;

  /// Solves the programme with fractional values allowed for all variables.
  RelaxedSolution relaxed(int most_iterations = MilpLimits::unlimited) const;

 private:
  struct Column {
    double low, high, cost;
    bool integer;
  };
  struct Row {
    double low, high;
    Terms terms;
  };
  double unit() const;
  void load(OsiClpSolverInterface& solver) const;
  bool holds(const std::vector<double>& values) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace sluice
