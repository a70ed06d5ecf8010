// Solves mixed-integer linear programmes: finds those values x of the variables for which the sum of cost · x is
// smallest. The variables have bounds and linear constraints. Some variables must be integers. Only this code uses the
// solver CBC (short for COIN-OR branch and cut). CBC prints nothing here, and the program keeps its own signal
// handlers. If the programme is malformed, the functions throw InternalError. After a signal, they throw Interrupted.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

class OsiClpSolverInterface;  // a class of CBC

namespace sluice {

struct MilpSolution {
  bool feasible = false;  ///< whether `values` holds a solution
  /// Whether the solution is proven to be optimal. Without a solution: whether it is proven that no solution exists.
  bool proven = false;
  /// The value of each variable. The value of an integer variable is exactly an integer.
  std::vector<double> values;
  double objective = std::numeric_limits<double>::infinity();
  /// A proven lower bound of the objective of every solution.
  double bound = -std::numeric_limits<double>::infinity();

  /// Returns (objective - bound) / objective, or 0 if the solution is proven to be optimal.
  double gap() const;
};

/// The solution of the programme in which integer variables may have fractional values.
struct RelaxedSolution {
  /// False if the programme is infeasible or unbounded. False, too, if CBC stopped at the iteration limit.
  bool solved = false;
  double objective = 0;
  std::vector<double> values;  ///< the value of each variable
  /// For each constraint: the change of the objective if the constraint's limit grows by 1.
  std::vector<double> duals;
};

struct MilpLimits {
  static constexpr int unlimited = std::numeric_limits<int>::max();
  /// The limit of the wall-clock time in seconds. With a limit, results depend on the speed of the machine.
  double seconds = std::numeric_limits<double>::infinity();
  int nodes = unlimited;  ///< the largest number of nodes that branch and bound visits
};

class Milp {
 public:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  /// The terms of a sum: pairs of a variable's index and its factor.
  using Terms = std::vector<std::pair<std::uint32_t, double>>;

  /// Adds a real variable or an integer variable, and returns the index of the variable.
  std::uint32_t real(double low, double high, double cost = 0);
  std::uint32_t whole(double low, double high, double cost = 0);

  /// Adds the constraint low <= sum of the terms <= high. A variable may appear in several terms. Returns the index of
  /// the constraint.
  std::uint32_t constrain(double low, const Terms& terms, double high);

  /// Returns the best solution that is found within the limits. If none is found, `feasible` is false. CBC may run a
  /// short time beyond a limit. With a limit of seconds, the result depends on the speed of the machine. The search
  /// considers only solutions with an objective below `at_most`. The objective of a proven solution is the smallest, up
  /// to a tolerance of 1e-9 times the greatest cost of a variable.
  MilpSolution solve(MilpLimits limits, double at_most = infinity) const;

  /// Solves an easier programme than solve(): integer variables, too, may have fractional values.
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
