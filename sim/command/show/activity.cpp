#include <algorithm>
#include <map>

#include "base/interrupt.hpp"

#include "command/show/picture.hpp"

namespace sluice {
namespace {

bool computes(const Labels& labels, std::uint32_t stream) {
  return labels.streams[stream].kind == "compute";
}

std::string wait_reason(const Labels& labels, const Span& span) {
  if (span.reason == WaitReason::memory && span.blocker < labels.pools.size())
    return "room in " + labels.pools[span.blocker].name + ", or its turn to get this room";
  if (span.reason == WaitReason::data && span.blocker < labels.actions.size()) {
    const Labels::Action& blocker = labels.actions[span.blocker];
    return blocker.kind + " on " + labels.streams[blocker.stream].name;
  }
  return "a cause that the trace does not name";
}

}  // namespace

Activity activity_of(const TraceReader& trace) {
  const Labels& labels = trace.labels();
  Activity activity;
  activity.streams.resize(labels.streams.size());
  std::vector<double> last_end(labels.streams.size(), 0);
  std::map<std::string, Activity::WaitTotal> by_reason;
  const auto idle = [&](const std::string& what, double seconds) {
    if (!(seconds > 0)) return;
    Activity::WaitTotal& wait = by_reason[what];
    wait.what = what;
    wait.seconds += seconds;
    ++wait.times;
  };
  trace.spans([&](const std::vector<Span>& spans) {
    check_interrupt();
    for (const Span& span : spans) {
      const std::uint32_t stream = labels.actions[span.action].stream;
      activity.streams[stream].busy_s += span.end - span.start;
      ++activity.streams[stream].spans;
      last_end[stream] = std::max(last_end[stream], span.end);
      activity.end_s = std::max(activity.end_s, span.available);
      if (computes(labels, stream) && span.waited > 0) idle(wait_reason(labels, span), span.waited);
    }
  });
  for (std::uint32_t s = 0; s < labels.streams.size(); ++s) {
    if (!computes(labels, s) || activity.streams[s].spans == 0) continue;
    activity.compute_span_s += activity.end_s;
    idle("nothing: the stream had no work left", activity.end_s - last_end[s]);
  }
  for (auto& [what, wait] : by_reason) activity.wait_totals.push_back(std::move(wait));
  std::stable_sort(activity.wait_totals.begin(), activity.wait_totals.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return activity;
}

HighWater high_water_of(const TraceReader& trace, std::uint32_t pool) {
  const Labels& labels = trace.labels();
  std::map<std::string, std::size_t> number_of_class;
  std::vector<std::string> names;
  std::vector<std::size_t> class_of;
  for (const Labels::Tensor& tensor : labels.tensors) {
    const auto [found, is_new] = number_of_class.emplace(tensor.tensor_class, names.size());
    if (is_new) names.push_back(tensor.tensor_class);
    class_of.push_back(found->second);
  }
  HighWater high;
  std::vector<std::int64_t> now(names.size(), 0), at_peak = now;
  std::int64_t level = 0;
  trace.memory(pool, [&](const std::vector<MemoryEvent>& events) {
    check_interrupt();
    for (const MemoryEvent& event : events) {
      now[class_of[event.tensor]] += event.delta;
      level += event.delta;  // The level of a pool is the sum over all classes of tensors.
      if (level <= high.peak) continue;
      high.peak = level;
      high.time = event.time;
      at_peak = now;
    }
  });
  for (std::size_t c = 0; c < names.size(); ++c)
    if (at_peak[c] > 0) high.classes.emplace_back(names[c], at_peak[c]);
  std::stable_sort(high.classes.begin(), high.classes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return high;
}

}  // namespace sluice
