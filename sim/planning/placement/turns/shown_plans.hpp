// What is known from other requests, which differ only in the capacity of the device's first memory. The plans that a
// policy makes for shown machines do not depend on the capacities of the real memories, so these requests share them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "planning/placement/turns/shown_machine.hpp"

namespace sluice {

/// The fastest plan for a shown machine, with the text of its choices.
struct ShownPlan {
  double seconds = 0;
  std::string text;
  Plan plan;
};

class ShownPlans {
 public:
  /// A lower bound of the seconds of all plans for the request. With more memory, the fastest plan takes so many seconds.
  double at_least = 0;

  using Made = std::shared_ptr<const ShownPlan>;

  /// What the plans are made for: the strategy for fates, and the rates of the shown machines.
  struct Series {
    std::string strategy;
    ShownRates rates;
    /// Whether the fastest plan for one memory is also the fastest plan for every smaller memory into which it fits.
    /// This is true if the memory only decides which plans are left out.
    bool only_left_out = false;
    auto operator<=>(const Series&) const = default;
  };

  /// Returns what `make` returns for a shown machine with `bytes` bytes, or null if no plan fits. Calls `make` only if
  /// the result is not known from another machine of the series. `needed` returns the bytes of memory that a plan needs.
  Made plan(const Series& series, std::int64_t bytes, const std::function<Made()>& make,
            const std::function<std::int64_t(const Plan&)>& needed) {
    std::vector<Known>& known = known_[series];
    for (const Known& one : known)
      if (one.least <= bytes && bytes <= one.most) return one.made;
    const Made made = make();
    known.push_back({series.only_left_out ? made ? needed(made->plan) : 0 : bytes, bytes, made});
    return made;
  }

 private:
  /// The result for all machines with `least` to `most` bytes.
  struct Known {
    std::int64_t least = 0, most = 0;
    Made made;
  };
  std::map<Series, std::vector<Known>> known_;
};

}  // namespace sluice
