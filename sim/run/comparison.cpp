#include "run/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "execute/deadlock.hpp"

namespace sluice {

void Times::span(const Span& span) {
  times_[span.action].push_back({span.start, span.end});
  makespan_ = std::max(makespan_, span.available);
  next_.span(span);
}

void Comparison::span(const Span& span) {
  const std::vector<Times::Pair>& expected = times_.of(span.action);
  const std::size_t number = seen_[span.action]++;
  if (number >= expected.size()) disagree(span, "it is not executed");
  const auto [start, end] = expected[number];
  if (std::abs(span.start - start) <= tolerance_ && std::abs(span.end - end) <= tolerance_) return;
  disagree(span, "it runs from " + exact(start) + " s to " + exact(end) + " s");
}

void Comparison::finish() const {
  for (std::uint32_t a = 0; a < seen_.size(); ++a)
    if (seen_[a] < times_.of(a).size())
      throw InternalError("SimGrid and the replay differ: the replay leaves out '" +
                          name_of(plan_.actions[a]) + "'");
}

void Comparison::disagree(const Span& span, const std::string& there) const {
  throw InternalError(
      "SimGrid and the replay differ first at " + action_label(plan_, span.action, span.iteration) +
      " on " + plan_.streams[plan_.actions[span.action].stream].name + ": in SimGrid " + there +
      ", in the replay from " + exact(span.start) + " s to " + exact(span.end) + " s");
}

}  // namespace sluice
