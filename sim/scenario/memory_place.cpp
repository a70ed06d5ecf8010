#include "scenario/memory_place.hpp"

#include <algorithm>

#include "platform/written.hpp"

namespace sluice {
namespace {

const Value* written(const Value& platform, const char* kind, const std::string& name) {
  const std::vector<WrittenPart> parts = written_parts(platform, kind);
  const WrittenPart* part = part_called(parts, name);
  return part ? part->keys : nullptr;
}

/// Returns the memory as the device lists it. If it lists the name of a memory of the platform, returns that memory.
const Value* memory_of(const Scenario& scenario, const Value& platform,
                       const MissingRate& missing) {
  if (const Value* shared = written(platform, "memories", missing.memory)) return shared;
  const Value* device = written(platform, "devices", missing.device);
  const Value* memory = device ? device->find("memory") : nullptr;
  if (!memory || !memory->is_list()) return memory ? memory : device;
  const auto& all = scenario.platform.device(missing.device).memories;
  const auto at = std::ranges::find(all, missing.memory, &DeviceMemory::pool) - all.begin();
  const auto index = static_cast<std::size_t>(at);
  return index < memory->items().size() ? &memory->items()[index] : memory;
}

}  // namespace

const Value& place_of(const Value& document, std::string_view mapping, std::string_view key) {
  const Value* outer = document.find(mapping);
  const Value* inner = outer ? outer->find(key) : nullptr;
  return inner ? *inner : outer ? *outer : document;
}

void fail_at_memory(const Scenario& scenario, const MissingRate& missing) {
  const Value* platform = scenario.document.find("platform");
  const Value* memory = platform ? memory_of(scenario, *platform, missing) : nullptr;
  fail_at(memory ? *memory : platform ? *platform : scenario.document, missing.what());
}

}  // namespace sluice
