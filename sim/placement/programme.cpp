#include "placement/programme.hpp"

#include <map>

#include "base/milp.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;
using Pinned = PlacementProblem::Pinned;

class Programme {
 public:
  explicit Programme(const ImproveRequest& request)
      : request_(request), question_(request.question), rows_(question_.kernel_count()) {
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t)
      request.moves ? add_moving(t) : add_constant(t);
    for (std::uint32_t k = 0; k < question_.kernel_count(); ++k) {
      add_time(k);
      if (!rows_[k].empty())
        milp_.constrain(-Milp::infinity, rows_[k], static_cast<double>(request.capacity) * scale_);
    }
  }

  ProgrammeAnswer solve(double known, double time_limit_s) const {
    const MilpSolution solution = milp_.solve(time_limit_s, known);
    ProgrammeAnswer answer{{}, solution.proven, solution.bound};
    if (!solution.feasible) return answer;
    Placing placing;
    for (std::uint32_t t = 0; t < question_.tensor_count(); ++t) {
      const std::size_t count = question_.uses(t).count();
      TensorPath path{std::vector<char>(count, 0), std::vector<char>(count, 0)};
      for (std::size_t i = 0; i < count; ++i) {
        path.use[i] = solution.values[uses_[t][i]] > 0.5;
        if (question_.has_gap(t, i)) path.gap[i] = solution.values[gaps_[t][i]] > 0.5;
      }
      placing.push_back(std::move(path));
    }
    answer.placing = std::move(placing);
    return answer;
  }

 private:
  std::uint32_t choice(std::uint32_t t, double cost = 0) {
    const Pinned pinned = question_.tensor(t).pinned;
    return milp_.whole(pinned == Pinned::fast ? 1 : 0, pinned == Pinned::slow ? 0 : 1, cost);
  }

  void hold(std::uint32_t t, KernelRange range, std::uint32_t variable) {
    for (std::uint32_t k = range.first; k < range.last; ++k)
      rows_[k].emplace_back(variable, static_cast<double>(question_.tensor(t).bytes) * scale_);
  }

  void add_constant(std::uint32_t t) {
    const std::uint32_t fast = choice(t);
    uses_.emplace_back(question_.uses(t).count(), fast);
    gaps_.emplace_back(question_.uses(t).count(), fast);
    hold(t, question_.live(t), fast);
  }

  void add_moving(std::uint32_t t) {
    const TensorUses& uses = question_.uses(t);
    std::vector<std::uint32_t>& use = uses_.emplace_back();
    std::vector<std::uint32_t>& gap = gaps_.emplace_back();
    const double fetch = request_.weights.fetch * question_.fetch_s(t);
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
    for (std::size_t j = 0; j < uses.count(); ++j)
      if (uses.written[j]) add_version(t, j, use, gap);
  }

  /// What use j writes in fast memory is saved once, if any gap that it lives through is in slow.
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
    const std::uint32_t saved = milp_.real(0, 1, request_.weights.save * question_.save_s(t));
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
    if (!kernel.time.table.empty()) {
      add_table(k);
      return;
    }
    const std::uint32_t seconds = milp_.real(0, Milp::infinity, request_.weights.kernels);
    for (const KernelTime::Line& line : kernel.time.lines) {
      Milp::Terms terms = {{seconds, 1}};
      double all_slow = line.base;
      for (std::size_t o = 0; o < kernel.operands.size(); ++o) {
        all_slow += line.extra[o];
        terms.emplace_back(use_of(k, o), line.extra[o]);
      }
      milp_.constrain(all_slow, terms, Milp::infinity);
    }
  }

  /// A share for each entry; where the uses are whole, one of them is 1.
  void add_table(std::uint32_t k) {
    const PlacementProblem::Kernel& kernel = question_.problem().kernels[k];
    Milp::Terms sum;
    std::vector<Milp::Terms> fast(kernel.operands.size());
    for (std::size_t set = 0; set < kernel.time.table.size(); ++set) {
      const std::uint32_t share =
          milp_.real(0, 1, request_.weights.kernels * kernel.time.table[set]);
      sum.emplace_back(share, 1);
      for (std::size_t o = 0; o < fast.size(); ++o)
        if ((set >> o & 1U) == 0) fast[o].emplace_back(share, 1);
    }
    milp_.constrain(1, sum, 1);
    for (std::size_t o = 0; o < fast.size(); ++o) {
      fast[o].emplace_back(use_of(k, o), -1);
      milp_.constrain(0, fast[o], 0);
    }
  }

  const ImproveRequest& request_;
  const PlacementQuestion& question_;
  Milp milp_;
  double scale_ = 1 / std::max(1.0, static_cast<double>(request_.capacity));
  std::vector<std::vector<std::uint32_t>> uses_, gaps_;  ///< variables
  std::vector<Milp::Terms> rows_;                        ///< bytes, by kernel
};

}  // namespace

std::size_t programme_size(const PlacementQuestion& question, bool moves) {
  if (!moves) return question.tensor_count();
  std::size_t size = 0;
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t) size += 2 * question.uses(t).count();
  return size;
}

ProgrammeAnswer solve_programme(const ImproveRequest& request, double known, double time_limit_s) {
  return Programme(request).solve(known, time_limit_s);
}

}  // namespace sluice
