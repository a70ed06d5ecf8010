// The note `unused_memory` names memories that are outside of the devices, and that the plan does not use.
#include <algorithm>
#include <vector>

#include "base/quantity.hpp"
#include "base/suggest.hpp"
#include "study/answer/note.hpp"

namespace sluice {
namespace {

double peak_of(const Summary& summary, const std::string& pool) {
  if (const Summary::Metric* peaks = summary.find("peak_bytes"))
    for (const SummaryValue::Keyed& keyed : peaks->value.keyed)
      if (keyed.key.front() == pool) return keyed.number;
  return 0;
}

std::string text(const AnsweredScenario& answered) {
  std::vector<std::string> unused;
  for (const Memory& memory : answered.scenario.platform.memories)
    if (!(peak_of(answered.summary, memory.name) > 0))
      unused.push_back(
          "'" + memory.name + "' (" +
          (memory.capacity ? format_bytes(*memory.capacity) : std::string("unlimited")) + ")");
  if (unused.empty()) return "";
  return "The memory " + join(unused) +
         " is not used: outside of the devices, all tensors are in '" +
         answered.scenario.platform.host().name +
         "', the memory that is nearest to the devices. No transfer reaches a memory behind it.";
}

}  // namespace

extern const Note unused_memory_note = {
    .name = "unused_memory",
    .summary = "Names the unused memories outside of the devices.",
    .source =
        "a platform may have a second memory outside of the devices, such as NVMe; no policy uses this "
        "memory",
    .text = text,
};

}  // namespace sluice
