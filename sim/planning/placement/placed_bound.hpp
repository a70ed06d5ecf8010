// A lower bound of the seconds of a run whose tensors are placed in two memories. It counts the kernels, which run one
// after the other, and the loads from host memory. If another run takes fewer seconds than this bound, the long search
// for a placement is not necessary.
#pragma once

#include <vector>

#include "planning/placement/placed_question.hpp"

namespace sluice {

class PlacedBound {
 public:
  /// With `cached`, the bound is for the placement method `cached`: fast memory is a cache of slow memory. If slow memory
  /// is host memory, tensors then need neither copies nor slower kernels.
  PlacedBound(const PlacedQuestion& asked, const PolicyRequest& request,
              const CommonParameters& common, bool cached = false);

  /// Returns a lower bound of the seconds of a run with any placement.
  double seconds() const { return seconds(from_kernel_s_.front()); }
  /// Returns a lower bound of the seconds of a run whose kernels and synchronous moves together take at least `round_s`
  /// seconds in each round.
  double seconds(double round_s) const;
  /// Returns a lower bound of the seconds of a run whose rounds take at least `round_s` seconds on average.
  double seconds_of_rounds(double round_s) const;

 private:
  struct Load;
  std::vector<Load> loads_of(const PlacedQuestion& asked, const Path& to_fast, const Path& to_slow,
                             const Platform& platform) const;
  void count_copies_or_slow_kernels(const PlacedQuestion& asked, const Platform& platform);
  double best_share(const std::vector<Load>& loads, double slow_s) const;
  template <class Seconds>
  void count(const std::vector<Load>& loads, double latency_s, const Seconds& seconds);

  double rounds_;
  bool in_turn_;  ///< whether no action overlaps another action
  /// Indexed by kernel: the least seconds of the kernel and all later kernels of a round together. An element
  /// with the value 0 follows the element of the last kernel.
  std::vector<double> from_kernel_s_;
  double first_round_s_ = 0;  ///< the least seconds of the first round, with the loads before it
  /// A lower bound of the run's seconds that follows from its loads: the seconds of all loads, plus the seconds of the
  /// kernels after the last load. If `in_turn_`, it counts only the loads, because seconds() adds all kernels.
  double all_loads_s_ = 0;
  double least_s_ =
      0;  ///< if slow memory is host memory: the bound of count_copies_or_slow_kernels(), otherwise 0
};

}  // namespace sluice
