// The bytes of stages: of weights, inputs and outputs for one micro-batch, and of caches.
#pragma once

#include <cstdint>
#include <vector>

#include "planning/request.hpp"

namespace sluice {

/// The bytes of a stage for one micro-batch.
struct StageBytes {
  std::int64_t weights, input, output, workspace;
  /// The bytes of the stage's part of the answer, if no later stage reads this part. The part then leaves the device at
  /// once. For the last stage, `answer` is 0, because its part of the answer is its `output`.
  std::int64_t answer = 0;
  /// Only under `streamed`, if activations stay on the device: the bytes of tensors that earlier stages make and later
  /// stages read. They stay on the device while the stage computes. `input` then has only the tensors that no later
  /// stage reads.
  std::int64_t around = 0;
};
std::vector<StageBytes> stage_bytes(const PolicyRequest& request);

/// These two functions return the bytes of caches of keys and values. The first function is for one stage and `samples`
/// samples. The second function is for all stages and all samples of a step. A cache is never moved: the device that
/// reads it holds it during the whole run.
std::int64_t cache_bytes(const Stage& stage, std::int64_t samples);
std::int64_t cache_bytes(const PolicyRequest& request);
}  // namespace sluice
