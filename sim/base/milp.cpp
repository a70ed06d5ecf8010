#include "base/milp.hpp"

#include <coin/CbcEventHandler.hpp>
#include <coin/CbcModel.hpp>
#include <coin/CbcStrategy.hpp>
#include <coin/ClpEventHandler.hpp>
#include <coin/CoinPackedMatrix.hpp>
#include <coin/OsiClpSolverInterface.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <new>
#include <string>

#include "base/error.hpp"
#include "base/gap.hpp"
#include "base/interrupt.hpp"

namespace sluice {
namespace {

constexpr double tolerance = 1e-6;
/// The tolerance of objectives, divided by the greatest cost of a variable. Two objectives count as equal if they
/// differ by less than the tolerance.
constexpr double small_cost = 1e-9;

/// Says when CBC must stop: after a signal, or at the time limit. CBC then cleans up and returns. After a signal, the
/// caller of CBC throws Interrupted.
class Stop {
 public:
  explicit Stop(double seconds) : begin_(Clock::now()), seconds_(seconds) {}
  double left() const {
    return seconds_ - std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  bool now() const { return interrupt_signal() != 0 || left() <= 0; }
  mutable bool within_lp = false;  ///< whether CBC stopped while it solved a linear programme

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_;
  double seconds_;
};

class StopBranching : public CbcEventHandler {
 public:
  CbcAction event(CbcEvent) override { return interrupt_signal() != 0 ? stop : noAction; }
  CbcEventHandler* clone() const override { return new StopBranching(*this); }
};

class StopLp : public ClpEventHandler {
 public:
  explicit StopLp(const Stop& stop) : stop_(&stop) {}
  int event(Event) override {
    if (!stop_->now()) return -1;
    stop_->within_lp = true;
    return 0;
  }
  ClpEventHandler* clone() const override { return new StopLp(*this); }

 private:
  const Stop* stop_;
};

double finite(double bound) {
  return std::isinf(bound) ? std::copysign(COIN_DBL_MAX, bound) : bound;
}

/// Throws std::bad_alloc if there is little memory left. Coin's solvers do not report a lack of memory: they crash, or
/// print a failed assertion of their own code.
void require_room() {
  constexpr std::size_t room_for_solvers = std::size_t{16} << 20;
  if (!has_room_for(room_for_solvers)) throw std::bad_alloc();
}

}  // namespace

double MilpSolution::gap() const {
  if (proven) return 0;
  return feasible ? gap_of(objective, bound) : Milp::infinity;
}

std::uint32_t Milp::real(double low, double high, double cost) {
  columns_.push_back({.low = low, .high = high, .cost = cost, .integer = false});
  return static_cast<std::uint32_t>(columns_.size() - 1);
}

std::uint32_t Milp::whole(double low, double high, double cost) {
  columns_.push_back({.low = low, .high = high, .cost = cost, .integer = true});
  return static_cast<std::uint32_t>(columns_.size() - 1);
}

std::uint32_t Milp::constrain(double low, const Terms& terms, double high) {
  std::map<std::uint32_t, double> sums;
  for (const auto& [variable, factor] : terms) {
    if (variable >= columns_.size())
      throw InternalError("a constraint names variable " + std::to_string(variable) +
                          ", but there are only " + std::to_string(columns_.size()) + " variables");
    sums[variable] += factor;
  }
  rows_.push_back({low, high, Terms(sums.begin(), sums.end())});
  return static_cast<std::uint32_t>(rows_.size() - 1);
}

/// Returns the greatest absolute cost of a variable. If all costs are 0, returns 1. CBC's tolerances are absolute. So
/// all costs are divided by this number before CBC gets them.
double Milp::unit() const {
  double most = 0;
  for (const Column& column : columns_) most = std::max(most, std::abs(column.cost));
  return most > 0 ? most : 1;
}

bool Milp::holds(const std::vector<double>& values) const {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (values[i] < columns_[i].low - tolerance || values[i] > columns_[i].high + tolerance)
      return false;
  for (const Row& row : rows_) {
    double sum = 0, size = 1;
    for (const auto& [variable, factor] : row.terms) {
      sum += factor * values[variable];
      size = std::max(size, std::abs(factor));
    }
    if (sum < row.low - tolerance * size || sum > row.high + tolerance * size) return false;
  }
  return true;
}

void Milp::load(OsiClpSolverInterface& solver) const {
  std::vector<double> column_low, column_high, cost, row_low, row_high, factors;
  std::vector<int> columns, starts = {0};
  const double unit = this->unit();
  for (const Column& column : columns_) {
    column_low.push_back(finite(column.low));
    column_high.push_back(finite(column.high));
    cost.push_back(column.cost / unit);
  }
  for (const Row& row : rows_) {
    for (const auto& [variable, factor] : row.terms) {
      columns.push_back(static_cast<int>(variable));
      factors.push_back(factor);
    }
    starts.push_back(static_cast<int>(columns.size()));
    row_low.push_back(finite(row.low));
    row_high.push_back(finite(row.high));
  }
  const CoinPackedMatrix matrix(false, static_cast<int>(columns_.size()),
                                static_cast<int>(rows_.size()), static_cast<int>(columns.size()),
                                factors.data(), columns.data(), starts.data(), nullptr);
  solver.messageHandler()->setLogLevel(0);
  solver.getModelPtr()->setLogLevel(0);
  solver.loadProblem(matrix, column_low.data(), column_high.data(), cost.data(), row_low.data(),
                     row_high.data());
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i].integer) solver.setInteger(static_cast<int>(i));
}

MilpSolution Milp::solve(MilpLimits limits, double at_most) const {
  const Stop stop(limits.seconds);
  require_room();
  OsiClpSolverInterface solver;
  load(solver);
  StopLp stop_lp(stop);
  solver.getModelPtr()->passInEventHandler(&stop_lp);
  CbcModel model(solver);
  model.setLogLevel(0);
  model.messageHandler()->setLogLevel(0);
  model.setUseElapsedTime(true);
  model.setMaximumNodes(limits.nodes);
  if (!std::isinf(at_most)) model.setCutoff(at_most / unit());
  StopBranching stop_branching;
  model.passInEventHandler(&stop_branching);
  // This strategy leaves preprocessing off. With preprocessing, CBC 2.10.8 once returned a "proven" optimum in which
  // integer variables had fractional values. The first test of test_milp.cpp has this case.
  CbcStrategyDefault strategy(1, 5, 5, 0);
  model.setStrategy(strategy);
  model.setAllowableGap(small_cost);
  // CBC's default for this tolerance, 1e-5, is too large.
  model.setDblParam(CbcModel::CbcCutoffIncrement, small_cost);
  model.initialSolve();
  check_interrupt();
  if (stop.within_lp) return {};
  const double relaxed = model.solver()->getObjValue();
  const bool impossible = model.solver()->isProvenPrimalInfeasible();
  if (!std::isinf(limits.seconds)) model.setMaximumSeconds(std::max(0.0, stop.left()));
  if (!impossible) model.branchAndBound();
  check_interrupt();

  MilpSolution solution;
  // If a limit stopped CBC within a linear programme, CBC's conclusion proves nothing.
  solution.proven =
      impossible || (!stop.within_lp && (model.isProvenOptimal() || model.isProvenInfeasible()));
  const double bound = unit() * (stop.within_lp ? relaxed : model.getBestPossibleObjValue());
  solution.bound = solution.proven ? at_most : std::min(at_most, bound);
  const double* found = model.bestSolution();
  if (found == nullptr) return solution;
  solution.values.assign(found, found + columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (columns_[i].integer) solution.values[i] = std::round(solution.values[i]);
  if (!holds(solution.values)) throw InternalError("CBC returned values that are not a solution");
  solution.feasible = true;
  solution.objective = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    solution.objective += columns_[i].cost * solution.values[i];
  solution.bound = std::min(solution.objective, solution.proven ? infinity : solution.bound);
  return solution;
}

RelaxedSolution Milp::relaxed(int most_iterations) const {
  const Stop stop(infinity);
  require_room();
  OsiClpSolverInterface solver;
  load(solver);
  StopLp stop_lp(stop);
  solver.getModelPtr()->passInEventHandler(&stop_lp);
  solver.getModelPtr()->setMaximumIterations(most_iterations);
  solver.initialSolve();
  check_interrupt();
  RelaxedSolution solution;
  solution.solved = solver.isProvenOptimal();
  if (!solution.solved) return solution;
  const double unit = this->unit();
  solution.objective = unit * solver.getObjValue();
  solution.values.assign(solver.getColSolution(), solver.getColSolution() + columns_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i)
    solution.duals.push_back(unit * solver.getRowPrice()[i]);
  return solution;
}

}  // namespace sluice
