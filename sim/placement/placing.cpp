#include "placement/placing.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.hpp"
#include "base/quantity.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;

/// A use that writes a tensor makes a new version of the tensor. This function calls each(gap) for each gap after which
/// a use still needs the version that use j has made.
template <class Each>
void gaps_of_version(const PlacementQuestion& question, std::uint32_t t, std::size_t j,
                     const Each& each) {
  const TensorUses& uses = question.uses(t);
  for (std::size_t i = j + 1; i < uses.count(); ++i) {
    each(i);
    if (uses.written[i]) return;
  }
  if (question.tensor(t).begins != Begins::stays) return;
  for (std::size_t i = 0; i <= j; ++i) {
    each(i);
    if (uses.written[i]) return;
  }
}

/// Returns the gap in which the version that use j has made is saved to slow memory. Returns `none` if this version is
/// not saved.
std::size_t saved_in(const PlacementQuestion& question, std::uint32_t t, const TensorPath& path,
                     std::size_t j) {
  std::size_t found = none;
  gaps_of_version(question, t, j, [&](std::size_t i) {
    if (found == none && !path.gap[i]) found = i;
  });
  return found;
}

template <class Fetch, class Save>
void walk_moves(const PlacementQuestion& question, std::uint32_t t, const TensorPath& path,
                const Fetch& fetch, const Save& save) {
  const TensorUses& uses = question.uses(t);
  for (std::size_t i = 0; i < uses.count(); ++i)
    if (path.use[i] && !path.gap[i] && question.has_gap(t, i)) fetch(i);
  for (std::size_t j = 0; j < uses.count(); ++j)
    if (uses.written[j] && path.use[j])
      if (const std::size_t gap = saved_in(question, t, path, j); gap != none) save(gap);
}

template <class Each>
void each_fast_kernel(const PlacementQuestion& question, std::uint32_t t, const TensorPath& path,
                      const Each& each) {
  const TensorUses& uses = question.uses(t);
  for (std::size_t i = 0; i < uses.count(); ++i) {
    if (path.use[i]) each(uses.kernels[i]);
    if (!path.gap[i]) continue;
    const KernelRange gap = question.gap(t, i);
    for (std::uint32_t k = gap.first; k < gap.last; ++k) each(k);
    if (i > 0) continue;
    const KernelRange behind = question.behind(t);
    for (std::uint32_t k = behind.first; k < behind.last; ++k) each(k);
  }
}

/// Returns whether slow memory must have room for a tensor with this path: also for the copy of a tensor that moves.
bool needs_slow(const PlacementQuestion& question, std::uint32_t t, const TensorPath& path) {
  return !(path == constant_path(question, t, /*fast=*/true));
}

/// What a placement puts into one memory.
struct PoolUse {
  const PlacementQuestion& question;
  const std::string& pool;
  std::vector<std::int64_t> bytes;  ///< indexed by kernel
  std::int64_t capacity = 0;
  /// Whether the tensor t is in the memory during kernel k.
  std::function<bool(std::uint32_t t, std::uint32_t k)> holds;
};

/// Throws Infeasible if the memory is too small. `what` is the name of the placement.
void refuse_excess(const PoolUse& use, const std::string& what) {
  const PlacementQuestion& question = use.question;
  const auto worst = std::max_element(use.bytes.begin(), use.bytes.end());
  if (*worst <= use.capacity) return;
  const auto k = static_cast<std::uint32_t>(worst - use.bytes.begin());
  std::vector<std::uint32_t> there;
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t)
    if (use.holds(t, k)) there.push_back(t);
  std::stable_sort(there.begin(), there.end(), [&](std::uint32_t a, std::uint32_t b) {
    return question.tensor(a).bytes > question.tensor(b).bytes;
  });
  std::string largest;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, there.size()); ++i)
    largest += (i == 0 ? "" : ", ") + question.tensor(there[i]).name + " (" +
               format_bytes(question.tensor(there[i]).bytes) + ")";
  std::string needs = format_bytes(*worst), has = format_bytes(use.capacity);
  if (needs == has) {  // The rounded numbers are equal: the message gives the exact numbers.
    needs = std::to_string(*worst) + " B";
    has = std::to_string(use.capacity) + " B";
  }
  throw Infeasible(what + " exceeds memory '" + use.pool + "' at kernel '" +
                       question.problem().kernels[k].name + "' (step " + std::to_string(k + 1) +
                       " of " + std::to_string(question.kernel_count()) + "): the kernel needs " +
                       needs + " there, and the memory has " + has + "; the largest tensors are " +
                       largest,
                   {.pool = use.pool, .needed_bytes = *worst, .available_bytes = use.capacity});
}

}  // namespace

TensorPath constant_path(const PlacementQuestion& question, std::uint32_t t, bool fast) {
  const std::size_t count = question.uses(t).count();
  TensorPath path{std::vector<char>(count, fast), std::vector<char>(count, fast)};
  if (!question.has_gap(t, 0)) path.gap[0] = 0;
  return path;
}

bool is_static(const PlacementQuestion& question, const Placing& placing) {
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t) {
    const std::vector<char>& use = placing[t].use;
    if (!use.empty() && !(placing[t] == constant_path(question, t, use.front()))) return false;
  }
  return true;
}

Placing all_slow(const PlacementQuestion& question) {
  Placing placing;
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t)
    placing.push_back(
        constant_path(question, t, question.tensor(t).pinned == PlacementProblem::Pinned::fast));
  return placing;
}

Placing all_fast(const PlacementQuestion& question) {
  Placing placing;
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t)
    placing.push_back(
        constant_path(question, t, question.tensor(t).pinned != PlacementProblem::Pinned::slow));
  return placing;
}

PlacementMove fetch_before(const PlacementQuestion& question, std::uint32_t t, std::size_t i) {
  const std::uint32_t at = question.uses(t).kernels[i];
  return {.tensor = t, .to_fast = true, .begin = at, .needed = at, .use = i};
}

PlacementMove save_in(const PlacementQuestion& question, std::uint32_t t, std::size_t i) {
  const TensorUses& uses = question.uses(t);
  const std::uint32_t at = (i > 0 ? uses.kernels[i - 1] : uses.kernels.back()) + 1;
  return {.tensor = t, .to_fast = false, .begin = at, .needed = at, .use = i};
}

std::vector<PlacementMove> moves_of(const PlacementQuestion& question, std::uint32_t t,
                                    const TensorPath& path) {
  std::vector<PlacementMove> moves;
  walk_moves(
      question, t, path, [&](std::size_t i) { moves.push_back(fetch_before(question, t, i)); },
      [&](std::size_t i) { moves.push_back(save_in(question, t, i)); });
  return moves;
}

std::vector<PlacementMove> moves_of(const PlacementQuestion& question, const Placing& placing) {
  std::vector<PlacementMove> moves;
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t)
    for (const PlacementMove& move : moves_of(question, t, placing[t])) moves.push_back(move);
  std::stable_sort(moves.begin(), moves.end(), [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.to_fast < b.to_fast;
  });
  return moves;
}

PathMoves moves_of_path(const PlacementQuestion& question, std::uint32_t t,
                        const TensorPath& path) {
  PathMoves moves;
  walk_moves(
      question, t, path, [&](std::size_t) { ++moves.fetches; },
      [&](std::size_t) { ++moves.saves; });
  return moves;
}

std::vector<std::vector<char>> slow_operands(const PlacementQuestion& question,
                                             const Placing& placing) {
  std::vector<std::vector<char>> slow;
  for (const PlacementProblem::Kernel& kernel : question.problem().kernels)
    slow.emplace_back(kernel.operands.size(), 0);
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t) {
    const TensorUses& uses = question.uses(t);
    for (std::size_t i = 0; i < uses.count(); ++i)
      slow[uses.kernels[i]][uses.operands[i]] = placing[t].use[i] ? 0 : 1;
  }
  return slow;
}

std::vector<double> kernel_seconds(const PlacementQuestion& question, const Placing& placing) {
  const auto slow = slow_operands(question, placing);
  std::vector<double> seconds;
  for (std::uint32_t k = 0; k < question.kernel_count(); ++k)
    seconds.push_back(question.problem().kernels[k].time.at(slow[k]));
  return seconds;
}

std::vector<std::int64_t> fast_bytes(const PlacementQuestion& question, const Placing& placing) {
  std::vector<std::int64_t> bytes(question.kernel_count(), 0);
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t)
    each_fast_kernel(question, t, placing[t],
                     [&](std::uint32_t k) { bytes[k] += question.tensor(t).bytes; });
  return bytes;
}

double synchronous_seconds(const PlacementQuestion& question, const Placing& placing) {
  const std::vector<double> kernels = kernel_seconds(question, placing);
  double seconds = std::accumulate(kernels.begin(), kernels.end(), 0.0);
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t) {
    const PathMoves moves = moves_of_path(question, t, placing[t]);
    seconds += static_cast<double>(moves.fetches) * question.fetch_s(t) +
               static_cast<double>(moves.saves) * question.save_s(t);
  }
  return seconds;
}

std::vector<std::int64_t> slow_bytes(const PlacementQuestion& question, const Placing& placing) {
  std::vector<std::int64_t> bytes(question.kernel_count(), 0);
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t) {
    if (!needs_slow(question, t, placing[t])) continue;
    const KernelRange live = question.live(t);
    for (std::uint32_t k = live.first; k < live.last; ++k) bytes[k] += question.tensor(t).bytes;
  }
  return bytes;
}

bool fits_slow(const PlacementQuestion& question, const Placing& placing) {
  const std::optional<std::int64_t>& capacity = question.problem().slow_capacity;
  return !capacity || std::ranges::max(slow_bytes(question, placing)) <= *capacity;
}

void check_capacity(const PlacementQuestion& question, const Placing& placing,
                    std::int64_t capacity, const std::string& what) {
  refuse_excess({.question = question,
                 .pool = question.problem().fast,
                 .bytes = fast_bytes(question, placing),
                 .capacity = capacity,
                 .holds =
                     [&](std::uint32_t t, std::uint32_t k) {
                       bool held = false;
                       each_fast_kernel(question, t, placing[t],
                                        [&](std::uint32_t at) { held |= at == k; });
                       return held;
                     }},
                what);
}

void check_slow_capacity(const PlacementQuestion& question, const Placing& placing,
                         const std::string& what) {
  const PlacementProblem& problem = question.problem();
  if (!problem.slow_capacity) return;
  refuse_excess({.question = question,
                 .pool = problem.slow,
                 .bytes = slow_bytes(question, placing),
                 .capacity = *problem.slow_capacity,
                 .holds =
                     [&](std::uint32_t t, std::uint32_t k) {
                       const KernelRange live = question.live(t);
                       return live.first <= k && k < live.last &&
                              needs_slow(question, t, placing[t]);
                     }},
                what);
}

}  // namespace sluice
