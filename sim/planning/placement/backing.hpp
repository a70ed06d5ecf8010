// The second memory of a device as the home of all tensors that take turns in its first memory:
// weights, optimizer state, gradients, and offloaded activations. Tensors that begin in host memory
// are loaded into the second memory once, before anything else. Then they move between the two
// memories of the device: host -> ddr -> hbm. Inputs and answers move between host memory and the
// first memory, as always.
//
// Any policy can make such plans. The policy is shown a machine whose host memory is the second memory of the device.
// Its plan is then changed into a plan for the real machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/draft.hpp"
#include "planning/parts.hpp"

namespace sluice {

/// The value of the key `placement` that makes the second memory the home of tensors that take turns.
inline constexpr const char* backing = "backing";

/// Whether the choices of `placement` include placements of single tensors. For these a cost model
/// must count the bandwidths of memories.
bool places_tensors(const Field& placement);

/// Returns why the second memory of the device named `device` cannot be the home of tensors that take turns. The text
/// is empty if it can.
std::string why_no_backing(const Platform& platform, const std::string& device);
/// Throws InputError at `placement` if why_no_backing() returns a reason. The message says the reason.
void require_backing(const Platform& platform, const std::string& device, const Reader& parameters);

/// Asks the policy for a plan for the machine that it is shown, and returns the plan for the real machine. Throws what
/// `plan` throws.
using PlanOf = std::function<Draft(const PolicyRequest& shown)>;
Draft backed_draft(const PolicyRequest& request, const CommonParameters& common,
                   const PlanOf& plan);

/// The candidates that the policy has for the machine that it is shown. Each is judged by its plan for the real
/// machine. Their lower bounds hold for the shown machine, on which inputs use the same links as the weights. So a
/// bound may rule out a candidate that is slightly faster on the real machine.
using CandidatesOf = std::function<std::vector<Candidate>(const PolicyRequest& shown)>;
std::vector<Candidate> backed_candidates(const PolicyRequest& request,
                                         const CommonParameters& common,
                                         const CandidatesOf& candidates);

/// The homes that are compared: host memory, the second memory, or both.
struct Homes {
  bool host = false, backing = false;
};

/// The candidates and the plan that a policy makes for a machine. The machine may be the real one or the shown one.
struct PlansForMachine {
  CandidatesOf candidates;  ///< none if the scenario leaves nothing open
  PlanOf plan;              ///< of what the scenario says
};

/// Returns the candidates with these homes, and those in `others`. If there are any candidates, a home for
/// which nothing is left open has a single candidate, which is its plan.
std::vector<Candidate> candidates_of_homes(const PolicyRequest& request,
                                           const CommonParameters& common, Homes homes,
                                           const PlansForMachine& of_policy,
                                           std::vector<Candidate> others = {});

}  // namespace sluice
