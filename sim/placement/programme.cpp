#include "placement/programme.hpp"

#include <algorithm>
#include <cmath>

#include "base/milp.hpp"
#include "placement/envelope.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;
using Pinned = PlacementProblem::Pinned;
constexpr double nearly_whole = 1e-6;

/// Returns the programme's unit of time, in seconds. It is the mean time of a kernel.
double unit_of(const PlacementQuestion& question) {
  double seconds = question.all_fast_seconds();
  if (!(seconds > 0)) seconds = synchronous_seconds(question, all_slow(question));
  return seconds > 0 ? seconds / question.kernel_count() : 1;
}

class Programme {
 public:
  explicit Programme(const ImproveRequest& request)
      : request_(request),
        question_(request.question),
        unit_(unit_of(request.question)),
        changes_(question_.kernel_count() + 1) {
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t)
      request.moves ? add_moving(t) : add_constant(t);
    std::uint32_t before = none;
    for (std::uint32_t k = 0; k < question_.kernel_count(); ++k) {
      add_time(k);
      const std::uint32_t level = milp_.real(0, static_cast<double>(request.capacity) * scale_);
      changes_[k].emplace_back(level, -1);
      if (before != none) changes_[k].emplace_back(before, 1);
      levels_.push_back(milp_.constrain(0, changes_[k], 0));
      before = level;
    }
  }

  ProgrammeAnswer solve(double known, int nodes) const {
    const MilpSolution solution = milp_.solve({.nodes = nodes}, known / unit_);
    ProgrammeAnswer answer{{}, solution.proven, solution.bound * unit_};
    if (solution.feasible) answer.placing = placing_of(solution.values);
    return answer;
  }

  std::optional<RelaxedProgramme> relaxed(int iterations) const {
    const RelaxedSolution solution = milp_.relaxed(iterations);
    if (!solution.solved) return {};
    PlacementPrices prices;
    for (std::uint32_t k = 0; k < question_.kernel_count(); ++k) {
      const bool last = k + 1 == question_.kernel_count();
      const double price = (last ? 0 : solution.duals[levels_[k + 1]]) - solution.duals[levels_[k]];
      prices.bytes.push_back(std::max(0.0, price) * scale_ * unit_);
      prices.below.push_back(line_below_kernel(k, solution.duals));
    }
    Placing chosen;
    const double bound = bound_at({.question = question_,
                                   .capacity = request_.capacity,
                                   .moves = request_.moves,
                                   .weights = request_.weights},
                                  prices, chosen);
    return RelaxedProgramme{bound, std::move(prices.bytes), placing_of(solution.values),
                            whole_tensors(solution.values)};
  }

 private:
  Placing placing_of(const std::vector<double>& values) const {
    Placing placing;
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t) {
      const std::size_t count = question_.uses(t).count();
      TensorPath path{std::vector<char>(count, 0), std::vector<char>(count, 0)};
      for (std::size_t i = 0; i < count; ++i) {
        path.use[i] = values[uses_[t][i]] > 0.5;
        if (question_.has_gap(t, i)) path.gap[i] = values[gaps_[t][i]] > 0.5;
      }
      placing.push_back(std::move(path));
    }
    return placing;
  }

  std::vector<char> whole_tensors(const std::vector<double>& values) const {
    std::vector<char> whole;
    const auto is_whole = [&](std::uint32_t variable) {
      return variable == none ||
             std::abs(values[variable] - std::round(values[variable])) < nearly_whole;
    };
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t)
      whole.push_back(std::all_of(uses_[t].begin(), uses_[t].end(), is_whole) &&
                      std::all_of(gaps_[t].begin(), gaps_[t].end(), is_whole));
    return whole;
  }

  std::uint32_t choice(std::uint32_t t, double cost = 0) {
    const PlacementProblem::Tensor& tensor = question_.tensor(t);
    const bool slow = tensor.pinned == Pinned::slow || tensor.bytes > request_.capacity;
    return milp_.whole(tensor.pinned == Pinned::fast ? 1 : 0, slow ? 0 : 1, cost);
  }

  void hold(std::uint32_t t, KernelRange range, std::uint32_t variable) {
    if (range.first >= range.last) return;
    const double bytes = static_cast<double>(question_.tensor(t).bytes) * scale_;
    changes_[range.first].emplace_back(variable, bytes);
    changes_[range.last].emplace_back(variable, -bytes);
  }

  void add_constant(std::uint32_t t) {
    const std::uint32_t fast = choice(t);
    uses_.emplace_back(question_.uses(t).count(), fast);
    gaps_.emplace_back(question_.uses(t).count(), fast);
    hold(t, question_.live(t), fast);
  }

  void add_moving(std::uint32_t t) {
    if (question_.tensor(t).moves == PlacementProblem::Moves::none) return add_constant(t);
    const TensorUses& uses = question_.uses(t);
    std::vector<std::uint32_t>& use = uses_.emplace_back();
    std::vector<std::uint32_t>& gap = gaps_.emplace_back();
    const double fetch = request_.weights.fetch * question_.fetch_s(t) / unit_;
    for (std::size_t i = 0; i < uses.count(); ++i) {
      const bool has_gap = question_.has_gap(t, i);
      use.push_back(choice(t, has_gap ? fetch : 0));
      gap.push_back(has_gap ? choice(t, -fetch) : none);
      hold(t, {uses.kernels[i], uses.kernels[i] + 1}, use[i]);
      if (!has_gap) continue;
      hold(t, question_.gap(t, i), gap[i]);
      if (i == 0) hold(t, question_.behind(t), gap[i]);
    }
    for (std::size_t i = 0; i < uses.count(); ++i) {
      if (!question_.has_gap(t, i)) continue;
      not_above(gap[i], use[i]);
      if (i > 0) not_above(gap[i], use[i - 1]);
      if (i == 0 && question_.tensor(t).begins == Begins::stays) not_above(gap[0], use.back());
    }
    if (question_.tensor(t).moves == PlacementProblem::Moves::from_slow && gap[0] != none)
      for (std::size_t i = 0; i < uses.count(); ++i) {
        not_above(gap[0], use[i]);
        not_above(gap[0], gap[i]);
      }
    for (std::size_t j = 0; j < uses.count(); ++j)
      if (uses.written[j]) add_version(t, j, use, gap);
  }

  /// Adds the cost of saving the version of a tensor that use j writes in fast memory. The version is needed in all
  /// gaps from use j to the next use that writes the tensor. It is saved once if the tensor is in slow memory in at
  /// least one of these gaps.
  void add_version(std::uint32_t t, std::size_t j, const std::vector<std::uint32_t>& use,
                   const std::vector<std::uint32_t>& gap) {
    const TensorUses& uses = question_.uses(t);
    std::vector<std::size_t> through;
    bool ended = false;
    for (std::size_t i = j + 1; i < uses.count() && !ended; ++i) {
      through.push_back(i);
      ended = uses.written[i] != 0;
    }
    if (question_.tensor(t).begins == Begins::stays)
      for (std::size_t i = 0; i <= j && !ended; ++i) {
        through.push_back(i);
        ended = uses.written[i] != 0;
      }
    if (through.empty()) return;
    const std::uint32_t saved =
        milp_.real(0, 1, request_.weights.save * question_.save_s(t) / unit_);
    for (const std::size_t i : through)
      milp_.constrain(0, {{saved, 1}, {use[j], -1}, {gap[i], 1}}, Milp::infinity);
  }

  void not_above(std::uint32_t lower, std::uint32_t upper) {
    if (lower != upper) milp_.constrain(0, {{upper, 1}, {lower, -1}}, Milp::infinity);
  }

  std::uint32_t use_of(std::uint32_t k, std::size_t o) const {
    const std::uint32_t t = question_.problem().kernels[k].operands[o].tensor;
    const TensorUses& uses = question_.uses(t);
    for (std::size_t i = 0; i < uses.count(); ++i)
      if (uses.kernels[i] == k) return uses_[t][i];
    return none;
  }

  void add_time(std::uint32_t k) {
    const PlacementProblem::Kernel& kernel = question_.problem().kernels[k];
    envelopes_.push_back(envelope_of(kernel));
    std::vector<std::uint32_t>& rows = time_rows_.emplace_back();
    if (!envelopes_[k].sets.empty()) {
      add_sets(k, rows);
      return;
    }
    const std::uint32_t seconds = milp_.real(0, Milp::infinity, request_.weights.kernels);
    for (const KernelTime::Line& line : envelopes_[k].lines) {
      Milp::Terms terms = {{seconds, 1}};
      double all_slow = line.base;
      for (std::size_t o = 0; o < kernel.operands.size(); ++o) {
        all_slow += line.extra[o];
        if (line.extra[o] != 0) terms.emplace_back(use_of(k, o), line.extra[o] / unit_);
      }
      rows.push_back(milp_.constrain(all_slow / unit_, terms, Milp::infinity));
    }
  }

  /// Adds variables for the seconds of kernel k. There is a variable for each set of operands that may be in slow
  /// memory together. The variable is the share of this set in a mixture of all sets, so the variables add up to 1. If
  /// each operand is in one memory as a whole, the share of one set is 1.
  void add_sets(std::uint32_t k, std::vector<std::uint32_t>& rows) {
    const KernelEnvelope& envelope = envelopes_[k];
    Milp::Terms sum;
    std::vector<Milp::Terms> fast(envelope.operands.size());
    for (std::size_t set = 0; set < envelope.sets.size(); ++set) {
      const std::uint32_t share =
          milp_.real(0, 1, request_.weights.kernels * envelope.sets[set] / unit_);
      sum.emplace_back(share, 1);
      for (std::size_t i = 0; i < fast.size(); ++i)
        if ((set >> i & 1U) == 0) fast[i].emplace_back(share, 1);
    }
    milp_.constrain(1, sum, 1);
    for (std::size_t i = 0; i < fast.size(); ++i) {
      fast[i].emplace_back(use_of(k, envelope.operands[i]), -1);
      rows.push_back(milp_.constrain(0, fast[i], 0));
    }
  }

  /// Returns a line that nowhere exceeds the kernel's seconds. It is computed from the dual values of the programme.
  KernelTime::Line line_below_kernel(std::uint32_t k, const std::vector<double>& duals) const {
    const KernelEnvelope& envelope = envelopes_[k];
    std::vector<double> of_rows;
    for (const std::uint32_t row : time_rows_[k]) of_rows.push_back(duals[row]);
    if (!envelope.sets.empty()) {
      for (double& charge : of_rows) charge *= -unit_ / request_.weights.kernels;
      return line_below(envelope, question_.problem().kernels[k].operands.size(), of_rows);
    }
    double sum = 0;
    for (double& weight : of_rows) sum += weight = std::max(0.0, weight);
    if (!(sum > 0)) of_rows.front() = 1;
    return mean_of(envelope.lines, of_rows);
  }

  const ImproveRequest& request_;
  const PlacementQuestion& question_;
  double unit_;
  Milp milp_;
  double scale_ = 1 / std::max(1.0, static_cast<double>(request_.capacity));
  std::vector<std::vector<std::uint32_t>> uses_, gaps_;  ///< indices of variables
  /// How the bytes in fast memory change from one kernel to the next kernel.
  std::vector<Milp::Terms> changes_;
  std::vector<KernelEnvelope> envelopes_;
  /// These lists have the numbers of the programme's rows, indexed by kernel. `levels_` has the row for the bytes in
  /// fast memory. `time_rows_` has the rows for the kernel's seconds: one row per line of the kernel's envelope, or, if
  /// the envelope has `sets` instead, one row per operand.
  std::vector<std::uint32_t> levels_;
  std::vector<std::vector<std::uint32_t>> time_rows_;
};

}  // namespace

std::size_t programme_size(const PlacementQuestion& question, bool moves) {
  if (!moves) return question.tensor_count();
  std::size_t size = 0;
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t) size += 2 * question.uses(t).count();
  return size;
}

ProgrammeAnswer solve_programme(const ImproveRequest& request, double known, int nodes) {
  return Programme(request).solve(known, nodes);
}

std::optional<RelaxedProgramme> relax_programme(const ImproveRequest& request, int iterations) {
  return Programme(request).relaxed(iterations);
}

}  // namespace sluice
