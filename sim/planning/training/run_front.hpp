// Chooses among the runs of a training step by their bytes and seconds.
#pragma once

#include <cstddef>
#include <limits>
#include <set>
#include <vector>

#include "planning/slots/load_places.hpp"

namespace sluice {

/// Takes those runs that no run within fewer bytes beats. It gets the runs in the order of their bytes. Of equally fast
/// runs, it takes only a few.
class RunFront {
 public:
  explicit RunFront(std::size_t most_equal) : most_equal_(most_equal) {}
  /// Returns whether the front may take a run that takes at least these seconds.
  bool may_take(double at_least) const {
    return !slower(at_least) && (places_.size() < most_equal_ || faster(at_least));
  }
  /// Returns whether the front takes the run. It takes no two equally fast runs whose loads have the same places.
  bool takes(double seconds, const std::vector<LoadPlace>& places) {
    if (slower(seconds)) return false;
    if (faster(seconds)) {
      seconds_ = seconds;
      places_.clear();
    }
    return places_.size() < most_equal_ && places_.insert(places).second;
  }

 private:
  bool slower(double seconds) const { return seconds > seconds_ * (1 + 1e-9); }
  bool faster(double seconds) const { return seconds < seconds_ * (1 - 1e-9); }

  std::size_t most_equal_;  ///< how many equally fast runs are taken
  double seconds_ = std::numeric_limits<double>::infinity();  ///< of the fastest run so far
  std::set<std::vector<LoadPlace>> places_;  ///< the places of loads in the runs that take so long
};

}  // namespace sluice
