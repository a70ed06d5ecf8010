// Plans in which the device keeps all weights: how their stages count weights, and inference with them.
#pragma once

#include <string>
#include <vector>

#include "planning/draft.hpp"
#include "planning/parts.hpp"

namespace sluice {

/// The stages of a device that keeps all weights. Tied weights are kept once, with the first stage that has them.
std::vector<Stage> held_once(std::vector<Stage> stages);

/// The request for these stages, which must outlive it.
PolicyRequest with_stages(const PolicyRequest& request, const std::vector<Stage>& stages);

/// Inference on the device. The weights are loaded once, and then each micro-batch of a round runs through all stages.
Draft inference_with_weights(const PolicyRequest& request, const CommonParameters& common,
                             const std::string& policy);

/// The mappings for `policy:` with each number of inputs and answers that are on the device for transfers, if `buffers`
/// leaves it open. The usual number is the first.
std::vector<Value> alternatives_of_buffers(const PolicyRequest& request, const Reader& parameters);

}  // namespace sluice
