// A lower bound of the seconds of a run whose tensors are placed in two memories. A search for a placement takes long,
// and is not needed for a run that this bound rules out. The kernels run one after the other. The bound counts these
// kernels and the loads from host memory.
#pragma once

#include <vector>

#include "planning/placement/placed_question.hpp"

namespace sluice {

class PlacedBound {
 public:
  PlacedBound(const PlacedQuestion& asked, const PolicyRequest& request,
              const CommonParameters& common);

  /// Returns a lower bound for all placements.
  double seconds() const { return seconds(from_kernel_s_.front()); }
  /// Returns a lower bound for the placements whose kernels and synchronous moves take at least `round_s` seconds in
  /// each round.
  double seconds(double round_s) const;

 private:
  struct Load;
  std::vector<Load> loads_of(const PlacedQuestion& asked, const Path& to_fast, const Path& to_slow,
                             const Platform& platform) const;
  double best_share(const std::vector<Load>& loads) const;
  template <class Seconds>
  void count(const std::vector<Load>& loads, double latency_s, const Seconds& seconds);

  double rounds_;
  bool in_turn_;  ///< whether no action overlaps another action
  /// The least seconds of kernel k and all later kernels of a round, indexed by k. The last element is 0.
  std::vector<double> from_kernel_s_;
  double first_round_s_ = 0;  ///< the least seconds of the first round, with the loads before it
  /// The least seconds of all loads of the run, and of the kernels after the last load. If `in_turn_`, this number
  /// counts only the loads.
  double all_loads_s_ = 0;
};

}  // namespace sluice
