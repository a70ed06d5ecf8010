// The note `no_idle_watts` is about a device whose idle watts are not known. It says that the
// energy of the run counts 0 W for the device while the device waits.
#include <cmath>
#include <vector>

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "study/answer/note.hpp"

namespace sluice {
namespace {

/// The note is given only if devices wait for more than this share of the run.
constexpr double little = 0.01;

std::string text(const AnsweredScenario& answered) {
  const double waits = 1 - answered.summary.number("compute_utilisation");
  if (!(waits > little) || !std::isfinite(answered.summary.number("energy_j"))) return "";
  std::vector<std::string> devices;
  for (const Device& device : answered.scenario.platform.devices)
    if (device.busy_w > 0 && device.idle_w == 0) devices.push_back(device.name);
  if (devices.empty()) return "";
  const std::string whose = devices.size() > 2 ? devices.front() + " and " +
                                                     std::to_string(devices.size() - 1) + " others"
                                               : join(devices, " and ");
  return "The energy counts 0 W for " + whose + " while nothing computes there (" +
         format_quantity(100 * waits, Dimension::none) +
         " % of the run), because the platform gives no idle watts. A real card takes power at rest, too: give its "
         "idle watts as platform.devices.NAME.idle=30W.";
}

}  // namespace

extern const Note no_idle_watts_note = {
    .name = "no_idle_watts",
    .summary =
        "For a device with busy watts and without idle watts, tells that its waiting counts as 0 J.",
    .source = "makers publish the power of a busy board, but seldom the power of an idle board",
    .text = text,
};

}  // namespace sluice
