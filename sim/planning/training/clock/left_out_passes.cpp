#include "planning/training/clock/left_out_passes.hpp"

#include <algorithm>

#include "planning/training/shortest_round.hpp"

namespace sluice {

// A step begins with the forward pass of its first stage, for each of the micro-batches in flight.
LeftOutPasses left_out_passes(const Program& step) {
  if (step.left_out == 0) return {};
  const std::vector<Program::Operation>& all = step.operations;
  const auto again = std::ranges::adjacent_find(all, [](const auto& one, const auto& next) {
    return next.micro_batch != one.micro_batch + 1;
  });
  const std::int64_t in_flight = again - all.begin() + 1;
  const std::int64_t last =
      std::ranges::max_element(all, {}, &Program::Operation::micro_batch)->micro_batch;
  const FewPasses few = few_passes(in_flight);
  LeftOutPasses left;
  left.pass = std::ranges::count_if(all, [&](const Program::Operation& operation) {
    return operation.micro_batch >= 0 && operation.micro_batch < in_flight;
  });
  left.begin = few.before() * left.pass;
  left.end = left.begin + few.equal * left.pass;
  left.times = (step.passes - last / in_flight - 1) / few.equal;
  return left;
}

std::size_t first_needed_from(const std::vector<Program::Load>& loads, std::int64_t operation) {
  return static_cast<std::size_t>(
      std::ranges::lower_bound(loads, operation, {}, &Program::Load::needed) - loads.begin());
}

bool LeftOutPasses::repeat(const std::vector<Program::Load>& loads,
                           const std::vector<LoadPlace>& places) const {
  if (times == 0) return true;
  const std::size_t first = first_needed_from(loads, begin), last = first_needed_from(loads, end),
                    next = first_needed_from(loads, begin + pass);
  for (std::size_t i = next; i < loads.size(); ++i) {
    if (i >= last && places[i].at > end) continue;
    const std::size_t before = i - (next - first);
    if (loads[i].needed != loads[before].needed + pass) return false;
    if (places[i].at != places[before].at + pass || places[i].at < loads[i].needed - pass)
      return false;
    const bool wait = waits(loads[before], places[before]);
    if (wait != waits(loads[i], places[i])) return false;
    if (wait && places[i].after != places[before].after + pass) return false;
  }
  return true;
}

}  // namespace sluice
