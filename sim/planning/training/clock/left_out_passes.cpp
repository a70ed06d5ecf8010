#include "planning/training/clock/left_out_passes.hpp"

#include <algorithm>

#include "planning/training/shortest_round.hpp"

namespace sluice {

LeftOutPasses left_out_passes(const Program& step) {
  if (step.more_passes == 0) return {};
  const FewPasses few = few_passes(step.in_flight);
  LeftOutPasses left;
  left.pass = std::ranges::count_if(step.operations, [&](const Program::Operation& operation) {
    return operation.micro_batch >= 0 && operation.micro_batch < step.in_flight;
  });
  left.begin = few.before() * left.pass;
  left.end = left.begin + few.equal * left.pass;
  left.times = step.more_passes / few.equal;
  return left;
}

std::size_t first_needed_from(const std::vector<Program::Load>& loads, std::int64_t operation) {
  return static_cast<std::size_t>(
      std::ranges::lower_bound(loads, operation, {}, &Program::Load::needed) - loads.begin());
}

bool LeftOutPasses::waits_too_long(const std::vector<Program::Load>& loads) const {
  if (end - begin > reach * pass) return false;
  const std::size_t last = first_needed_from(loads, end);
  for (std::size_t i = first_needed_from(loads, begin); i < last; ++i)
    if (loads[i].after < loads[i].needed - reach * pass) return true;
  return false;
}

bool LeftOutPasses::repeat(const std::vector<Program::Load>& loads,
                           const std::vector<LoadPlace>& places) const {
  if (times == 0) return true;
  if (waits_too_long(loads)) return false;
  const std::size_t first = first_needed_from(loads, begin), last = first_needed_from(loads, end),
                    next = first_needed_from(loads, begin + pass);
  for (std::size_t i = next; i < loads.size(); ++i) {
    const std::size_t before = i - (next - first);
    if (i >= last && std::min(places[i].at, places[before].at + pass) > end) continue;
    if (loads[i].needed != loads[before].needed + pass) return false;
    if (places[i].at != places[before].at + pass || places[i].at <= loads[i].needed - pass)
      return false;
    const bool wait = waits(loads[before], places[before]);
    if (wait != waits(loads[i], places[i])) return false;
    if (wait && places[i].after != places[before].after + pass) return false;
  }
  return true;
}

}  // namespace sluice
