#include "placement/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;

std::string of_kernel(const PlacementProblem& problem, std::size_t k) {
  return "kernel '" + problem.kernels[k].name + "' (step " + std::to_string(k + 1) + " of " +
         std::to_string(problem.kernels.size()) + ")";
}

void check_time(const PlacementProblem& problem, std::size_t k) {
  const PlacementProblem::Kernel& kernel = problem.kernels[k];
  const std::size_t count = kernel.operands.size();
  const auto refuse = [&](const std::string& what) {
    throw InputError(of_kernel(problem, k) + " " + what);
  };
  const auto check_number = [&](double seconds) {
    if (!(std::isfinite(seconds) && seconds >= 0))
      refuse("takes " + std::to_string(seconds) +
             " s; expected a finite time that is not negative");
  };
  if (kernel.time.table.empty() == kernel.time.lines.empty())
    refuse(
        "needs its seconds for each choice of memories for its operands: give either a table "
        "of these seconds, or lines with extra seconds for each operand in slow memory");
  if (!kernel.time.table.empty()) {
    if (count > KernelTime::most_in_table || kernel.time.table.size() != std::size_t{1} << count)
      refuse("has " + std::to_string(count) + " operands and a table of " +
             std::to_string(kernel.time.table.size()) +
             " times; expected one time for each set of operands in slow memory");
    for (const double seconds : kernel.time.table) check_number(seconds);
  }
  for (const KernelTime::Line& line : kernel.time.lines) {
    if (line.extra.size() != count)
      refuse(
          "has a line whose number of extra times differs from "
          "the number of operands");
    check_number(line.base);
    for (const double extra : line.extra)
      if (!std::isfinite(extra)) refuse("has an extra time that is not a finite number");
  }
}

double seconds_of(const KernelTime::Line& line, const std::vector<char>& slow) {
  double seconds = line.base;
  for (std::size_t o = 0; o < slow.size(); ++o)
    if (slow[o]) seconds += line.extra[o];
  return seconds;
}

void check_tensors(const PlacementProblem& problem) {
  for (const PlacementProblem::Tensor& tensor : problem.tensors)
    if (tensor.bytes < 0)
      throw InputError("tensor '" + tensor.name + "' has " + std::to_string(tensor.bytes) +
                       " bytes; expected a number that is not negative");
}

void check_rates(const PlacementProblem& problem) {
  const auto check = [&](double rate, const std::string& from, const std::string& to,
                         const std::string& mode) {
    if (!(std::isfinite(rate) && rate > 0))
      throw InputError("no rate is known for " + mode + " moves from memory '" + from + "' to '" +
                       to + "' of " + problem.device +
                       "; give the link between the two memories a bandwidth");
  };
  if (std::ranges::all_of(problem.tensors, [](const PlacementProblem::Tensor& tensor) {
        return tensor.moves == PlacementProblem::Moves::none;
      }))
    return;
  check(problem.synchronous.to_fast, problem.slow, problem.fast, "synchronous");
  check(problem.synchronous.to_slow, problem.fast, problem.slow, "synchronous");
  if (!problem.asynchronous) return;
  check(problem.asynchronous->to_fast, problem.slow, problem.fast, "asynchronous");
  check(problem.asynchronous->to_slow, problem.fast, problem.slow, "asynchronous");
}

std::vector<TensorUses> uses_of(const PlacementProblem& problem) {
  std::vector<TensorUses> uses(problem.tensors.size());
  for (std::uint32_t k = 0; k < problem.kernels.size(); ++k) {
    const auto& operands = problem.kernels[k].operands;
    for (std::uint32_t o = 0; o < operands.size(); ++o) {
      const std::uint32_t t = operands[o].tensor;
      if (t >= problem.tensors.size())
        throw InputError(of_kernel(problem, k) + " names tensor number " + std::to_string(t) +
                         " as its operand " + std::to_string(o + 1) +
                         ", but there is no tensor with this number");
      TensorUses& of = uses[t];
      const std::string& name = problem.tensors[t].name;
      if (!of.kernels.empty() && of.kernels.back() == k)
        throw InputError(of_kernel(problem, k) + " names tensor '" + name +
                         "' twice; list each tensor once");
      if (of.kernels.empty() && problem.tensors[t].begins == Begins::made && !operands[o].written)
        throw InputError(
            of_kernel(problem, k) + " reads tensor '" + name +
            "', which is not in any memory: no earlier kernel makes the tensor, and the tensor is "
            "not given at the start");
      of.kernels.push_back(k);
      of.operands.push_back(o);
      of.written.push_back(operands[o].written ? 1 : 0);
    }
  }
  for (std::size_t t = 0; t < uses.size(); ++t)
    if (uses[t].kernels.empty())
      throw InputError("tensor '" + problem.tensors[t].name +
                       "' is not used by any kernel; remove this tensor");
  return uses;
}

}  // namespace

double KernelTime::at(const std::vector<char>& slow) const {
  if (!table.empty()) {
    std::size_t set = 0;
    for (std::size_t o = 0; o < slow.size(); ++o)
      if (slow[o]) set |= std::size_t{1} << o;
    return table[set];
  }
  double most = 0;
  for (const Line& line : lines) most = std::max(most, seconds_of(line, slow));
  return most;
}

double KernelTime::least() const {
  if (!table.empty()) return *std::min_element(table.begin(), table.end());
  double least = 0;
  for (const Line& line : lines) {
    double seconds = line.base;
    for (const double extra : line.extra) seconds += std::min(0.0, extra);
    least = std::max(least, seconds);
  }
  return least;
}

// The kernel takes at least the seconds of each line. The seconds of a line are a sum, which without operands in slow
// memory does not exceed least(). So with several operands there, the sum exceeds least() by at least as much as the
// sums with each of these operands alone exceed it together.
std::vector<double> KernelTime::extra_at_least(std::size_t operands) const {
  const double least_s = least();
  std::vector<double> best(operands, 0);
  double most = 0;
  for (const Line& line : lines_below(operands)) {
    double base = line.base, all = 0;
    for (const double extra : line.extra) base += std::min(0.0, extra);
    std::vector<double> more;
    for (const double extra : line.extra) {
      more.push_back(std::max(0.0, base + extra - least_s));
      all += more.back();
    }
    if (all > most) best = std::move(more);
    most = std::max(most, all);
  }
  return best;
}

double KernelTime::part(const std::vector<char>& slow, Line::Over over) const {
  if (!table.empty()) return over == Line::Over::device ? at(slow) : 0;
  double most = 0;
  for (const Line& line : lines)
    if (line.over == over) most = std::max(most, seconds_of(line, slow));
  return most;
}

std::vector<KernelTime::Line> KernelTime::lines_below(std::size_t operands) const {
  if (table.empty()) return lines;
  Line up{table.front(), {}}, down{table.back(), {}};
  for (std::size_t o = 0; o < operands; ++o) {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (std::size_t set = 0; set < table.size(); ++set) {
      const std::size_t bit = std::size_t{1} << o;
      if ((set & bit) != 0) continue;
      const double more = table[set | bit] - table[set];
      least = std::min(least, more);
      most = std::max(most, more);
    }
    up.extra.push_back(least);
    down.extra.push_back(most);
    down.base -= most;
  }
  return {std::move(up), std::move(down)};
}

PlacementQuestion::PlacementQuestion(PlacementProblem problem) : problem_(std::move(problem)) {
  if (problem_.kernels.empty()) throw InputError("the placement problem has no kernels");
  check_tensors(problem_);
  uses_ = uses_of(problem_);
  for (std::size_t k = 0; k < problem_.kernels.size(); ++k) check_time(problem_, k);
  check_rates(problem_);
  live_bytes_.assign(kernel_count(), 0);
  for (std::uint32_t t = 0; t < tensor_count(); ++t) {
    const KernelRange range = live(t);
    for (std::uint32_t k = range.first; k < range.last; ++k) live_bytes_[k] += tensor(t).bytes;
  }
}

KernelRange PlacementQuestion::gap(std::uint32_t t, std::size_t i) const {
  const TensorUses& of = uses_[t];
  if (i > 0) return {of.kernels[i - 1] + 1, of.kernels[i]};
  return {tensor(t).begins == Begins::made ? of.kernels[0] : 0, of.kernels[0]};
}

KernelRange PlacementQuestion::behind(std::uint32_t t) const {
  if (tensor(t).begins != Begins::stays) return {};
  return {uses_[t].kernels.back() + 1, kernel_count()};
}

KernelRange PlacementQuestion::live(std::uint32_t t) const {
  if (tensor(t).begins == Begins::stays) return {0, kernel_count()};
  return {tensor(t).begins == Begins::given ? 0 : uses_[t].kernels.front(),
          uses_[t].kernels.back() + 1};
}

std::int64_t PlacementQuestion::peak() const {
  return *std::max_element(live_bytes_.begin(), live_bytes_.end());
}

double PlacementQuestion::all_fast_seconds() const {
  double seconds = 0;
  for (const PlacementProblem::Kernel& kernel : problem_.kernels)
    seconds += kernel.time.all_fast(kernel.operands.size());
  return seconds;
}

double PlacementQuestion::fetch_s(std::uint32_t t, const PlacementProblem::Rates& rates) const {
  return rates.fetch_setup_s + static_cast<double>(tensor(t).bytes) / rates.to_fast;
}

double PlacementQuestion::save_s(std::uint32_t t, const PlacementProblem::Rates& rates) const {
  return rates.save_setup_s + static_cast<double>(tensor(t).bytes) / rates.to_slow;
}

}  // namespace sluice
