#include "planning/stage_bytes.hpp"

#include "base/quantity.hpp"

namespace sluice {

std::vector<StageBytes> stage_bytes(const PolicyRequest& request) {
  std::vector<StageBytes> all;
  const std::int64_t samples = request.workload.micro_batch;
  for (const Stage& stage : request.pricing.stages) {
    const auto times = [&](std::int64_t bytes) {
      return checked_mul(bytes, samples, "bytes of a micro-batch in stage " + stage.name);
    };
    all.push_back({stage.weight_bytes, times(stage.input_bytes), times(stage.output_bytes),
                   request.working_set_counted ? times(stage.workspace_bytes) : 0});
  }
  return all;
}

std::int64_t cache_bytes(const Stage& stage, std::int64_t samples) {
  return checked_mul(stage.cache_bytes, samples, "bytes of the cache of stage " + stage.name);
}

std::int64_t cache_bytes(const PolicyRequest& request) {
  std::int64_t bytes = 0;
  for (const Stage& stage : request.pricing.stages)
    bytes = checked_add(bytes, cache_bytes(stage, request.workload.samples_per_step()),
                        "bytes of all caches");
  return bytes;
}

}  // namespace sluice
