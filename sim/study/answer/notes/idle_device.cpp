// The note `idle_device` is for plans on several devices. It says that some of the devices have
// almost no work.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/figures.hpp"
#include "base/suggest.hpp"
#include "study/answer/note.hpp"

namespace sluice {
namespace {

/// A device counts as idle if the busiest device computes for more than ten times as long as this
/// device.
constexpr double tenfold = 10;

/// Returns for each device the seconds of all its computations.
std::map<std::string, double> computing(const AnsweredScenario& answered) {
  std::map<std::string, double> seconds;
  for (const Device& device : answered.scenario.platform.devices) seconds[device.name] = 0;
  const Plan& plan = answered.plan;
  for (std::uint32_t a = 0; a < plan.actions.size(); ++a) {
    const Stream& stream = plan.streams[plan.actions[a].stream];
    if (stream.kind == StreamKind::compute)
      seconds[stream.device] +=
          plan.actions[a].seconds * static_cast<double>(plan.executions_of(a));
  }
  return seconds;
}

std::string text(const AnsweredScenario& answered) {
  const Scenario& scenario = answered.scenario;
  if (!scenario.policy->all_devices || scenario.platform.devices.size() < 2) return "";
  const Summary::Metric* makespan = answered.summary.find("makespan_s");
  if (!makespan || !(makespan->value.number > 0)) return "";
  const std::map<std::string, double> seconds = computing(answered);
  double most = 0;
  for (const auto& [device, busy] : seconds) most = std::max(most, busy);
  std::vector<std::string> idle;
  for (const auto& [device, busy] : seconds)
    if (busy * tenfold < most)
      idle.push_back(device + " computes for " + percent(busy / makespan->value.number) +
                     " of the run");
  if (idle.empty()) return "";
  return join(idle) + ", and the busiest device for " + percent(most / makespan->value.number) +
         ": the stages go to the devices one by one, and all long stages are on busy devices. "
         "Another cut divides the work more evenly, such as stages={cut: balanced, count: " +
         std::to_string(3 * scenario.platform.devices.size()) + "}.";
}

}  // namespace

extern const Note idle_device_note = {
    .name = "idle_device",
    .summary =
        "Names the idle devices. A device counts as idle if the busiest device computes for more than "
        "ten times as long as this device.",
    .source =
        "if convolutions and ReLUs alternate as stages, one of two IPUs computes for only 0.014 % of a run under the "
        "policy `phased`",
    .text = text,
};

}  // namespace sluice
