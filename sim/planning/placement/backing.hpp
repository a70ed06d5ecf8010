// The second memory of a device as the home of everything that takes turns in its first one:
// weights, optimizer state and gradients that come and go, and activations that are offloaded. What
// begins in host memory comes to the second memory once, before anything else, and from there on
// moves between the two memories of the device: host -> ddr -> hbm. Inputs and answers move between
// host memory and the first memory, as always.
//
// Any policy can plan so: it is shown a machine whose host memory is the second memory, and its
// plan is then put on the machine as it is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/draft.hpp"
#include "planning/parts.hpp"

namespace sluice {

/// What `placement` calls it.
inline constexpr const char* backing = "backing";

/// Whether the choices of `placement` include the places of single tensors, for which a cost model
/// has to count the bandwidths of memories.
bool places_tensors(const Field& placement);

/// Why the second memory of the device cannot be that home; empty: it can. `device`: its name.
std::string why_no_backing(const Platform& platform, const std::string& device);
/// Throws InputError at `placement` with that reason.
void require_backing(const Platform& platform, const std::string& device, const Reader& parameters);

/// The plan that the policy makes for the machine that it is shown. Throws what `plan` throws.
using PlanOf = std::function<Draft(const PolicyRequest& shown)>;
Draft backed_draft(const PolicyRequest& request, const Common& common, const PlanOf& plan);

/// The candidates that the policy offers for the machine that it is shown, each judged by its plan
/// for the machine as it is. Their lower bounds are those of the machine that is shown, on which
/// inputs share the way of the weights: a way that is barely faster may be left out by them.
using CandidatesOf = std::function<std::vector<Candidate>(const PolicyRequest& shown)>;
std::vector<Candidate> backed_candidates(const PolicyRequest& request, const Common& common,
                                         const CandidatesOf& candidates);

}  // namespace sluice
