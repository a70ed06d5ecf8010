#include "plan/passes/one_stream.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sluice {

bool use_one_stream(Plan& plan) {
  std::vector<std::uint32_t> first(
      plan.streams.size());  // by stream: a stream before it, or itself
  std::iota(first.begin(), first.end(), 0U);
  const auto first_of = [&](std::uint32_t stream) {
    while (first[stream] != stream) stream = first[stream] = first[first[stream]];
    return stream;
  };
  std::vector<std::uint32_t> user(plan.links.size(), none);  // by link: a stream that uses the link
  for (const Action& action : plan.actions)
    for (const Flow& flow : action.flows)
      for (const std::uint32_t link : plan.routes[flow.route].links) {
        if (user[link] == none) user[link] = action.stream;
        const auto [one, other] = std::minmax({first_of(user[link]), first_of(action.stream)});
        if (one != other && (plan.streams[one].kind == StreamKind::compute ||
                             plan.streams[other].kind == StreamKind::compute))
          return false;
        first[other] = one;
      }
  for (Action& action : plan.actions) action.stream = first_of(action.stream);
  return true;
}

}  // namespace sluice
