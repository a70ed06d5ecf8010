// The note measured_on says on which device the rows of the profile were measured.
#include "base/suggest.hpp"
#include "study/answer/asked.hpp"
#include "study/answer/note.hpp"

namespace sluice {
namespace {

std::string text(const AnsweredScenario& answered) {
  std::vector<std::string> devices = account_of(answered.scenario).measured_on;
  if (devices.empty()) return "";
  for (std::string& device : devices)
    device = device.empty() ? "a device that the profile does not name" : "'" + device + "'";
  const Platform& platform = answered.scenario.platform;
  return "The rows of the profile were measured on " + join(devices, " and ") +
         ". The seconds of these rows are used unchanged for '" + platform.devices.front().name +
         "' of " + platform.name + ": make sure that the two devices are of one kind.";
}

}  // namespace

extern const Note measured_on_note = {
    .name = "measured_on",
    .summary = "Names the devices on which the profile's rows for the computation were measured.",
    .source =
        "a row of a profile has the seconds of one device; a scenario may use the row for any platform",
    .text = text,
};

}  // namespace sluice
