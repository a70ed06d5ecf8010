// Says which results of a stage other devices need, if several devices take turns. The next phase waits for these results.
// So a step saves them before other tensors.
#pragma once

#include <cstddef>
#include <vector>

namespace sluice {

struct Chain;

class NeededElsewhere {
 public:
  /// Stage s is on device s mod `devices`.
  NeededElsewhere(const Chain& chain, std::size_t devices);

  /// Returns whether a stage on another device reads the output of stage s.
  bool output(std::size_t s) const { return outputs_[s] != 0; }
  /// Returns the boundaries to whose gradients stage s adds, and which another device reads or adds to next. The one
  /// that is needed first comes first.
  const std::vector<std::size_t>& gradients(std::size_t s) const { return gradients_[s]; }

 private:
  std::vector<char> outputs_;                        ///< indexed by stage
  std::vector<std::vector<std::size_t>> gradients_;  ///< indexed by stage
};

}  // namespace sluice
