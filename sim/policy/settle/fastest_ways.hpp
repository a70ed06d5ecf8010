// The ways in which one of several replicas can make its choices, each with the bytes that it needs.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.hpp"
#include "planning/candidate.hpp"

namespace sluice {

/// A way of a replica. Its run stays within its bytes, so it is the same with each larger memory.
struct LimitedWay {
  std::int64_t bytes = 0;  ///< of the replica's device
  double seconds = 0;      ///< of the run of the replica alone
  /// A lower bound of the seconds of a run of all replicas with this way. Usually it is `seconds`. But if transfers of
  /// the replica share a link with each other, they may take turns in the run of all replicas, and the replica may be
  /// faster there.
  double at_least = 0;
  std::string text;  ///< the choices, as text of a scenario
  std::shared_ptr<const Plan> plan = {};
};
using SharedWay = std::shared_ptr<const LimitedWay>;

/// Those ways of a replica that are faster than all its ways with as many bytes or fewer. With a larger memory, there
/// are further ways, and all of them need more bytes. The ways are found when they are needed, those with the lowest
/// bounds first.
class FastestWays {
 public:
  /// `device` is the device of the plans of these candidates. Each plan must have a limit of its bytes.
  FastestWays(std::vector<Candidate> candidates, std::string device);

  /// Finds all ways whose lower bound is at most `seconds`.
  void find_within(double seconds);
  /// Returns the seconds of the fastest way, or infinity if there is none.
  double fastest();
  /// Returns the way with the fewest bytes that takes at most so many seconds, or null if there is none.
  SharedWay within(double seconds);
  /// Returns a lower bound of the seconds of the ways that are not found yet. Infinite if all are found.
  double rest_at_least() const;
  /// Returns the ways that are found, those with the fewest bytes first.
  const std::vector<SharedWay>& found() const { return ways_; }

 private:
  using Turn = std::pair<double, std::size_t>;  ///< the lower bound and the index of a candidate

  void add(std::vector<Candidate> candidates, double at_least);
  void take(const Settled& way);

  std::string device_;
  std::vector<Candidate> candidates_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  std::set<std::string> considered_;  ///< Candidate::same_ways of the candidates so far
  std::vector<SharedWay> ways_;
};

}  // namespace sluice
