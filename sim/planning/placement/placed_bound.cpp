#include "planning/placement/placed_bound.hpp"

#include <algorithm>
#include <limits>

#include "planning/copy_time.hpp"

namespace sluice {
namespace {

using Begins = PlacementProblem::Begins;
using Pinned = PlacementProblem::Pinned;

constexpr double never = std::numeric_limits<double>::infinity();
/// Keeps errors of rounding from making a bound too high.
constexpr double factor = 1 - 1e-9;

}  // namespace

/// A load of a tensor from host memory.
struct PlacedBound::Load {
  /// The seconds for which the load occupies a copy engine if it goes to fast memory (`fast_s`), or to slow memory
  /// (`slow_s`).
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
                         const CommonParameters& common)
    : rounds_(static_cast<double>(asked.rounds())), in_turn_(!common.overlap) {
  const auto& kernels = asked.question().problem().kernels;
  from_kernel_s_.assign(kernels.size() + 1, 0);
  for (std::size_t k = kernels.size(); k-- > 0;)
    from_kernel_s_[k] = from_kernel_s_[k + 1] + kernels[k].time.least();
  const Platform& platform = request.pricing.platform;
  const Path* to_fast = platform.path_or_null(common.host, asked.memories().fast);
  const Path* to_slow = platform.path_or_null(common.host, asked.memories().slow);
  // If slow memory is host memory, a tensor may stay there without a load. Then the bound counts no loads.
  if (asked.memories().far || !to_fast || !to_slow) return;
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
  const double share = best_share(loads);
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

/// Load::of_engines() gives the least seconds that a load adds to a weighted sum of the seconds of two copy engines.
/// Returns the weight `share` for which all loads of a run together add the most seconds. These seconds are a concave
/// function of `share`, so bisection finds the weight.
double PlacedBound::best_share(const std::vector<Load>& loads) const {
  double low = 0, high = 1;
  for (int n = 0; n < 40; ++n) {
    const double share = (low + high) / 2;
    double slope = 0;
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
  if (in_turn_) return factor * (all_loads_s_ + kernels_s);
  return factor * std::max({kernels_s, first_round_s_ + kernels_s - round_s, all_loads_s_});
}

}  // namespace sluice
