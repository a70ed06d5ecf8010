#include "planning/placement/turns/placed_seconds.hpp"

#include <algorithm>

#include "plan/tables.hpp"
#include "planning/copy_time.hpp"

namespace sluice {
namespace {

/// Returns the index of a value. A value that is not in the list is added.
template <class Value>
std::size_t index_in(std::vector<Value>& all, const Value& value) {
  const auto at = std::find(all.begin(), all.end(), value);
  const auto index = static_cast<std::size_t>(at - all.begin());
  if (at == all.end()) all.push_back(value);
  return index;
}

}  // namespace

// In training, a forward pass makes its output, and one more tensor if it keeps inner tensors.
StageWork work_of(const Plan& plan, const Action& action, const Platform& platform) {
  const auto device =
      std::ranges::find(platform.devices, plan.streams[action.stream].device, &Device::name);
  const auto made = std::ranges::count_if(action.allocates, [&](const Placement& one) {
    const TensorClass tensor_class = plan.tensors[one.tensor].tensor_class;
    return tensor_class == TensorClass::activation || tensor_class == TensorClass::output;
  });
  const bool forward = action.kind == ActionKind::forward || action.kind == ActionKind::recompute;
  return {.kind = action.kind,
          .device = static_cast<std::uint32_t>(device - platform.devices.begin()),
          .stage = action.stage,
          .samples = action.samples,
          .selective = action.part == WorkPart::selective,
          .keeps = forward && made > 1};
}

PlacedSeconds::PlacedSeconds(const Plan& plan, const Platform& platform,
                             const std::vector<std::uint32_t>& second_of, bool in_turn,
                             const KindOf& kind_of, const Platform& share)
    : plan_(plan), in_turn_(in_turn), steps_(plan.actions.size()) {
  for (const Channel& channel : share.channels) bandwidths_.push_back(channel.bandwidth);
  for (const Stream& stream : plan.streams) streams_.push_back(stream.name);
  const auto pool = [&](std::uint32_t number) { return plan.pools[number].name; };
  const auto second = [&](std::uint32_t number) { return pool(second_of[number]); };
  for (std::uint32_t a = 0; a < steps_.size(); ++a) {
    const Action& action = plan.actions[a];
    Step& step = steps_[a];
    const bool body = plan.section_of(a) == Section::body;
    step.executions = static_cast<double>(plan.executions_of(a));
    step.bytes = static_cast<double>(action.moved_bytes());
    step.begins = step.executions > 0 && a < plan.body_end && (!body || action.ahead >= 0);
    if (!action.is_transfer()) {
      step.work = index_in(works_, work_of(plan, action, platform));
      step.ways[0].stream = action.stream;
      continue;
    }
    const Flow& flow = action.flow();
    step.ways[0] = way_of(action, platform, pool(flow.from), pool(flow.to));
    if (flow.tensor == none) continue;
    if (second_of[flow.from] != none) step.from = kind_of({flow.tensor, flow.from});
    if (second_of[flow.to] != none) step.to = kind_of({flow.tensor, flow.to});
    const std::string from = pool(flow.from), to = pool(flow.to);
    if (step.to) step.ways[1] = way_of(action, platform, from, second(flow.to));
    if (step.from) step.ways[2] = way_of(action, platform, second(flow.from), to);
    if (step.from && step.to)
      step.ways[3] = way_of(action, platform, second(flow.from), second(flow.to));
  }
}

PlacedSeconds::Way PlacedSeconds::way_of(const Action& action, const Platform& platform,
                                         const std::string& from, const std::string& to) {
  const Path& path = platform.path(from, to);
  return {copy_time(platform, from, to).seconds(action.moved_bytes()), path.latency_s,
          index_in(streams_, path.stream), path.channels};
}

/// Returns the earliest time that the `not_before` and the waits of an action allow for its first execution. `arrivals`
/// has, indexed by action, the times at which data have arrived.
double PlacedSeconds::start_of(const Action& action, const std::vector<double>& arrivals) const {
  double start = action.not_before;
  for (const Wait& wait : action.waits)
    if (wait.distance == 0 || wait.action < plan_.body_begin)
      start = std::max(start, arrivals[wait.action]);
  return start;
}

// A stream executes its actions in listing order: the prologue, then all iterations of the body, then the epilogue. The
// first loop below goes through the actions of the prologue and of the first iteration, as if memory were unlimited and
// no links were shared. So it finds the earliest time at which each stream can begin the second iteration. The seconds
// of all later executions of the stream are added to this time. The bytes of all flows on a link take at least the
// seconds that they take at the bandwidth of this link.
double PlacedSeconds::at_least(const std::vector<bool>& slow,
                               const std::function<double(const StageWork&)>& kernel_s) const {
  std::vector<double> work_s, arrivals(steps_.size(), 0), links_s(bandwidths_.size(), 0);
  for (const StageWork& work : works_) work_s.push_back(kernel_s(work));
  std::vector<double> begun_s(streams_.size(), 0), later_s(streams_.size(), 0);
  double all_s = 0, last_s = 0;
  for (std::size_t a = 0; a < steps_.size(); ++a) {
    const Step& step = steps_[a];
    const Way& way = step.ways[(step.from && slow[*step.from] ? 2U : 0U) +
                               (step.to && slow[*step.to] ? 1U : 0U)];
    const double seconds = step.work ? work_s[*step.work] : way.seconds;
    all_s += step.executions * seconds;
    for (const std::uint32_t link : way.links)
      links_s[link] += step.executions * step.bytes / bandwidths_[link];
    later_s[way.stream] += (step.executions - (step.begins ? 1 : 0)) * seconds;
    if (!step.begins) continue;
    double& free = begun_s[way.stream];
    free = std::max(free, start_of(plan_.actions[a], arrivals)) + seconds;
    arrivals[a] = free + way.latency_s;
    last_s = std::max(last_s, arrivals[a]);
  }
  double least = in_turn_ ? std::max(all_s, last_s) : last_s;
  for (std::size_t s = 0; s < streams_.size(); ++s)
    least = std::max(least, begun_s[s] + later_s[s]);
  for (const double seconds : links_s) least = std::max(least, seconds);
  return least * within_accuracy;
}

}  // namespace sluice
