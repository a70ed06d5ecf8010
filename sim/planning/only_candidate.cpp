#include "planning/only_candidate.hpp"

#include <memory>
#include <utility>

#include "base/error.hpp"
#include "execute/arithmetic/replay.hpp"
#include "execute/feasibility.hpp"

namespace sluice {

Settled settled(const std::string& text, const std::function<Plan()>& plan) {
  Settled one = {.text = text};
  try {
    const auto made = std::make_shared<const Plan>(plan());
    // A memory must have room for all tensors that have their home in it. replay() does not check this, because it
    // counts only the bytes that actions allocate. check_without_replay() checks it.
    const ReplayResult result = replay(check_without_replay(*made));
    if (result.blocking) return one;
    one.seconds = result.makespan;
    one.plan = [made] { return *made; };
  } catch (const Infeasible&) {  // Other candidates may still fit.
  }
  return one;
}

Candidate only_candidate(const std::string& text, std::function<Plan()> plan) {
  return {0, 1,
          [text, plan = std::move(plan)](double, const auto& use) { use(settled(text, plan)); }};
}

}  // namespace sluice
