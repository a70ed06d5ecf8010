// Plans in which the device keeps all weights. The functions below return the stages of such plans,
// and make such a plan for inference.
#pragma once

#include <string>
#include <vector>

#include "planning/common_parameters.hpp"
#include "planning/draft.hpp"

namespace sluice {

/// Returns the same stages, with the bytes of weights that each stage adds on a device that keeps all weights. If
/// several stages have the same weights (tied weights), these count only in the first of the stages.
std::vector<Stage> held_once(std::vector<Stage> stages);

/// Returns a copy of the request with these stages, which must outlive the copy.
PolicyRequest with_stages(const PolicyRequest& request, const std::vector<Stage>& stages);

/// Returns the plan of inference on one device. The weights are loaded once. Then each micro-batch goes through all
/// stages.
Draft inference_with_weights(const PolicyRequest& request, const CommonParameters& common,
                             const std::string& policy);

/// For each number of buffers that is compared, returns a mapping with the keys of `policy:`. The usual number comes
/// first. The list is empty if the scenario gives `buffers`, or if nothing overlaps.
std::vector<Value> alternatives_of_buffers(const PolicyRequest& request, const Reader& parameters);

}  // namespace sluice
