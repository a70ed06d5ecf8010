#include "scenario/fast_limit.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "placement/fast_size.hpp"
#include "planning/placement/kernels.hpp"

namespace sluice {
namespace {

const Value* limit_in(const Scenario& scenario) {
  const Value* memory = scenario.document.find("memory");
  return memory ? memory->find("fast") : nullptr;
}

FastSize size_in(const Value& limit) {
  const std::string text = limit.text(), start = "'" + text + "' for 'fast' in memory ";
  std::optional<FastSize> size;
  try {
    size = parse_fast_size(text);
  } catch (const InputError& error) {
    fail_at(limit, start + error.what());
  }
  if (!size)
    fail_at(
        limit,
        start +
            "is not a limit of fast memory; expected bytes (16GB), a share of the needed bytes (40%), or a "
            "ratio of fast to slow memory (1:8)");
  if (size->bytes ? *size->bytes <= 0 : !(size->of_needed > 0))
    fail_at(limit, start + "leaves no fast memory for a run; expected a limit above 0");
  return *size;
}

/// Bytes do not depend on seconds.
struct NoCost final : Cost {
  Price of(const Query&) const override { return {}; }
};

/// Returns the most bytes that the tensors of one micro-batch and its update occupy at one moment.
std::int64_t needed_bytes(const Scenario& scenario) {
  const Workload& workload = scenario.workload;
  const std::vector<Stage> no_stages;
  const NoCost no_cost;
  const Pricing pricing{scenario.model,    no_stages,
                        scenario.platform, no_cost,
                        workload.dtype,    workload.training ? &*workload.training : nullptr};
  // The bytes do not depend on the memories. Rates of reads and writes in place keep the prices of memories out.
  constexpr PlacementProblem::Rates any{1, 1};
  const TwoMemories memories{.device = &scenario.platform.devices.front(),
                             .fast = "fast memory",
                             .slow = "slow memory",
                             .synchronous = any,
                             .asynchronous = any,
                             .cache = any,
                             .in_place = any};
  return PlacementQuestion(placed_kernels({pricing, workload, scenario.name}, memories).problem)
      .peak();
}

}  // namespace

std::optional<std::int64_t> fast_limit(const Scenario& scenario) {
  const Value* const limit = limit_in(scenario);
  if (!limit) return std::nullopt;
  const FastSize size = size_in(*limit);
  if (size.bytes) return size.bytes;
  return located(*limit, [&] { return size.bytes_of(needed_bytes(scenario)); });
}

void limit_fast_memory(Scenario& scenario) {
  const std::optional<std::int64_t> limit = fast_limit(scenario);
  if (!limit) return;
  Platform& platform = scenario.platform;
  const std::string host = platform.host().name;
  const auto lower = [&](std::optional<std::int64_t>& capacity) {
    capacity = std::min(capacity.value_or(*limit), *limit);
  };
  for (const Device& device : platform.devices) {
    const std::string fast = device.memory().pool;
    if (fast == host) continue;
    for (Memory& memory : platform.memories)
      if (memory.name == fast) lower(memory.capacity);
    for (Device& other : platform.devices)
      for (DeviceMemory& memory : other.memories)
        if (memory.pool == fast) lower(memory.capacity);
  }
}

}  // namespace sluice
