#include "planning/training/chain/needed_elsewhere.hpp"

#include <algorithm>
#include <functional>

#include "fates/chain.hpp"

namespace sluice {

NeededElsewhere::NeededElsewhere(const Chain& chain, std::size_t devices)
    : outputs_(chain.stages.size(), 0), gradients_(chain.stages.size()) {
  if (devices == 1) return;
  const auto elsewhere = [&](std::size_t a, std::size_t b) { return a % devices != b % devices; };
  // The backward passes of the stages that read a boundary add to its gradient, the last stage first. The stage that makes
  // the boundary reads the gradient after them. `next` has, for each boundary, the stage that needs its gradient next.
  std::vector<std::size_t> next(chain.stages.size() + 1);
  for (std::size_t b = 1; b < next.size(); ++b) next[b] = b - 1;
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    chain.each_read(s, [&](std::size_t b, bool) {
      if (b == 0) return;
      if (elsewhere(b - 1, s)) outputs_[b - 1] = 1;
      if (elsewhere(next[b], s)) gradients_[s].push_back(b);
      next[b] = s;
    });
    std::ranges::sort(gradients_[s], std::greater());
  }
}

}  // namespace sluice
