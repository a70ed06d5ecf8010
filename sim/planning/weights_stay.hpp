// Plans in which the device keeps all weights. The functions below return the stages of such plans,
// and make such a plan for inference.
#pragma once

#include <string>
#include <vector>

#include "planning/draft.hpp"
#include "planning/parts.hpp"

namespace sluice {

/// Returns the stages for a device that keeps all weights. Weights that several stages have (tied
/// weights) count only in the first of these stages.
std::vector<Stage> held_once(std::vector<Stage> stages);

/// Returns the request for these stages. The stages must outlive the result.
PolicyRequest with_stages(const PolicyRequest& request, const std::vector<Stage>& stages);

/// Returns the plan of inference on the device. The weights are loaded once, and each micro-batch of a round then runs
/// through all stages.
Draft inference_with_weights(const PolicyRequest& request, const CommonParameters& common,
                             const std::string& policy);

/// If the scenario leaves `buffers` open, returns one mapping for `policy:` per number of buffers to compare. The
/// usual number is first. If `buffers` is given, the list is empty. If nothing overlaps, it is empty, too.
std::vector<Value> alternatives_of_buffers(const PolicyRequest& request, const Reader& parameters);

}  // namespace sluice
