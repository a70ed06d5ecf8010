#include "planning/placement/placed_bound.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/never.hpp"
#include "planning/copy_time.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;
using Pinned = PlacementProblem::Pinned;

/// Keeps errors of rounding from making a bound too high.
constexpr double factor = 1 - 1e-9;

}  // namespace

/// A load of a tensor from host memory.
struct PlacedBound::Load {
  /// The seconds for which the load occupies a copy engine if it goes to fast memory (`fast_s`), or to slow memory
  /// (`slow_s`). If slow memory is host memory, `slow_s` are the seconds that kernels take longer.
  double fast_s = 0, slow_s = 0;
  /// Some links are on both routes, to fast memory and to slow memory. On the slowest of these links, this load takes
  /// `link_s`.
  double link_s = 0;
  /// The kernel `needed`, or an earlier kernel of the round, waits for the load. If `needed` is the number of kernels,
  /// no kernel waits for the load. All that is known then is that the load ends before the run ends.
  std::uint32_t needed = 0;
  /// Whether the tensor is loaded once per round. If false, it is a weight, which is loaded once per run.
  bool each_round = false;

  /// One copy engine loads into fast memory, another loads into slow memory. With a number `share` from 0 to 1, the
  /// weighted sum of the engines' seconds is
  ///   share x (seconds of the fast engine) + (1 - share) x (seconds of the slow engine).
  /// The engine that works longer works for at least this sum. Returns the least seconds that this load adds to the
  /// sum.
  double of_engines(double share) const { return std::min(share * fast_s, (1 - share) * slow_s); }
};

PlacedBound::PlacedBound(const PlacedQuestion& asked, const PolicyRequest& request,
                         const CommonParameters& common, bool cached)
    : rounds_(static_cast<double>(asked.rounds())), in_turn_(!common.overlap) {
  const auto& kernels = asked.question().problem().kernels;
  from_kernel_s_.assign(kernels.size() + 1, 0);
  for (std::size_t k = kernels.size(); k-- > 0;)
    from_kernel_s_[k] = from_kernel_s_[k + 1] + kernels[k].time.least();
  const Platform& platform = request.pricing.platform;
  const Path* to_fast = platform.path_or_null(common.host, asked.memories().fast);
  const Path* to_slow = platform.path_or_null(common.host, asked.memories().slow);
  if (asked.memories().slow == common.host) {
    if (!cached) count_copies_or_slow_kernels(asked, platform);
    return;
  }
  if (!to_fast || !to_slow) return;
  const std::vector<Load> loads = loads_of(asked, *to_fast, *to_slow, platform);
  const double latency_s = std::min(to_fast->latency_s, to_slow->latency_s);
  if (in_turn_) {
    for (const Load& load : loads)
      all_loads_s_ +=
          (load.each_round ? rounds_ : 1) * (std::min(load.fast_s, load.slow_s) + latency_s);
    return;
  }
  count(loads, latency_s, [](const Load& load) { return load.link_s; });
  if (to_fast->stream == to_slow->stream) {
    count(loads, latency_s, [](const Load& load) { return std::min(load.fast_s, load.slow_s); });
    return;
  }
  const double share = best_share(loads, 0);
  count(loads, latency_s, [share](const Load& load) { return load.of_engines(share); });
}

std::vector<PlacedBound::Load> PlacedBound::loads_of(const PlacedQuestion& asked,
                                                     const Path& to_fast, const Path& to_slow,
                                                     const Platform& platform) const {
  const PlacementQuestion& question = asked.question();
  const double fast_rate = narrowest(platform, to_fast.channels);
  const double slow_rate = narrowest(platform, to_slow.channels);
  const double common_rate = narrowest(platform, common_channels(to_fast, to_slow));
  std::vector<Load> loads;
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t) {
    const PlacementProblem::Tensor& tensor = question.tensor(t);
    const bool came_back = asked.copy_of(t) != none;
    const bool weight = tensor.tensor_class == TensorClass::weight;
    if (!came_back && !weight && tensor.begins != Begins::given) continue;
    const auto bytes = static_cast<double>(tensor.bytes);
    loads.push_back(
        {.fast_s = tensor.pinned == Pinned::slow ? never : to_fast.setup_s + bytes / fast_rate,
         .slow_s = tensor.pinned == Pinned::fast ? never : to_slow.setup_s + bytes / slow_rate,
         .link_s = bytes / common_rate,
         .needed = came_back ? question.kernel_count() : question.uses(t).kernels.front(),
         .each_round = !weight});
  }
  std::stable_sort(loads.begin(), loads.end(),
                   [](const Load& a, const Load& b) { return a.needed < b.needed; });
  return loads;
}

/// Slow memory is host memory, so a tensor may stay there without a copy. But then kernels that read or write it there
/// take longer. So for each tensor that comes from host memory or goes there, one of two resources works longer: the
/// copy engine, or the kernels. A tensor may also be copied while no kernel runs. This counts as seconds of kernels.
void PlacedBound::count_copies_or_slow_kernels(const PlacedQuestion& asked,
                                               const Platform& platform) {
  const PlacementQuestion& question = asked.question();
  const std::string &fast = asked.memories().fast, &slow = asked.memories().slow;
  const Path *down = platform.path_or_null(slow, fast), *up = platform.path_or_null(fast, slow);
  if (!down || !up) return;
  std::vector<std::vector<double>> extra_s;  // by kernel and operand
  for (const PlacementProblem::Kernel& kernel : question.problem().kernels)
    extra_s.push_back(kernel.time.extra_at_least(kernel.operands.size()));
  // Returns the least seconds that the first `count` kernels that use the tensor take longer if it is in slow memory.
  const auto slower_s = [&](std::uint32_t t, std::size_t count) {
    const TensorUses& uses = question.uses(t);
    double seconds = 0;
    for (std::size_t i = 0; i < count; ++i) seconds += extra_s[uses.kernels[i]][uses.operands[i]];
    return seconds;
  };
  std::vector<Load> loads, saves;
  const auto add = [&](std::uint32_t t, const Path& path, std::size_t count,
                       std::vector<Load>& all) {
    const PlacementProblem::Tensor& tensor = question.tensor(t);
    const auto bytes = static_cast<double>(tensor.bytes);
    const double moved_s = &path == up ? question.save_s(t) : question.fetch_s(t);
    const bool each_round = tensor.tensor_class != TensorClass::weight;
    all.push_back({.fast_s = path.setup_s + bytes / narrowest(platform, path.channels),
                   .slow_s = std::min(moved_s, (each_round ? 1 : rounds_) * slower_s(t, count)),
                   .each_round = each_round});
  };
  std::set<std::uint32_t> saved;
  for (std::uint32_t t = 0; t < question.tensor_count(); ++t) {
    const PlacementProblem::Tensor& tensor = question.tensor(t);
    const std::uint32_t original = asked.copy_of(t);
    if (original != none || tensor.tensor_class == TensorClass::weight ||
        tensor.begins == Begins::given)
      add(t, *down, question.uses(t).count(), loads);
    // The first kernel that uses the saved tensor makes it. The tensor may move to fast memory after that.
    if (original != none && saved.insert(original).second) add(original, *up, 1, saves);
  }
  const double kernels_s = rounds_ * from_kernel_s_.front();
  least_s_ = in_turn_ ? kernels_s : 0;
  for (const std::vector<Load>* copies : {&loads, &saves}) {
    const double share = best_share(*copies, kernels_s);
    double in_turn_s = 0, weighted_s = (1 - share) * kernels_s;
    for (const Load& copy : *copies) {
      const double times = copy.each_round ? rounds_ : 1;
      in_turn_s += times * std::min(copy.fast_s, copy.slow_s);
      weighted_s += times * copy.of_engines(share);
    }
    least_s_ = in_turn_ ? least_s_ + in_turn_s : std::max(least_s_, weighted_s);
  }
}

/// Load::of_engines() gives the least seconds that a load adds to a weighted sum of the seconds of two resources, such
/// as two copy engines. The second resource also works for `slow_s` seconds without any load. Returns the weight
/// `share` for which the sum over a run is greatest. The sum is a concave function of `share`, so bisection finds the
/// weight.
double PlacedBound::best_share(const std::vector<Load>& loads, double slow_s) const {
  double low = 0, high = 1;
  for (int n = 0; n < 40; ++n) {
    const double share = (low + high) / 2;
    double slope = -slow_s;
    for (const Load& load : loads) {
      const bool fast = share * load.fast_s < (1 - share) * load.slow_s;
      slope += (load.each_round ? rounds_ : 1) * (fast ? load.fast_s : -load.slow_s);
    }
    (slope > 0 ? low : high) = share;
  }
  return (low + high) / 2;
}

/// Counts the loads on a resource (a link or copy engines) that performs one load after the other. `seconds` gives the
/// least seconds for which a load occupies the resource. In the first round, a kernel starts after its own loads and
/// the loads of earlier kernels. In the last round, a kernel also starts after all loads of the earlier rounds.
template <class Seconds>
void PlacedBound::count(const std::vector<Load>& loads, double latency_s, const Seconds& seconds) {
  double earlier_rounds_s = 0;
  for (const Load& load : loads)
    earlier_rounds_s += (load.each_round ? rounds_ - 1 : 1) * seconds(load);
  double first_s = 0, last_s = 0;
  for (const Load& load : loads) {
    first_s += seconds(load);
    if (load.each_round) last_s += seconds(load);
    const double after_s = latency_s + from_kernel_s_[load.needed];
    first_round_s_ = std::max(first_round_s_, first_s + after_s);
    if (rounds_ > 1) all_loads_s_ = std::max(all_loads_s_, earlier_rounds_s + last_s + after_s);
  }
}

double PlacedBound::seconds_of_rounds(double round_s) const {
  return factor * rounds_ * round_s;
}

double PlacedBound::seconds(double round_s) const {
  const double kernels_s = rounds_ * round_s;
  if (in_turn_) return factor * std::max(all_loads_s_ + kernels_s, least_s_);
  return factor *
         std::max({kernels_s, first_round_s_ + kernels_s - round_s, all_loads_s_, least_s_});
}

}  // namespace sluice
