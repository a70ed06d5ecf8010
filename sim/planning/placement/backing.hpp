// Plans for devices with two memories. Weights, optimizer state, gradients, and offloaded activations take turns in
// the first memory. Their home is the second memory. A tensor that is in host memory at the start of the run is loaded
// into the second memory once, before all other actions (for example host -> ddr). Then this tensor moves between the
// two memories of the device (ddr -> hbm). Inputs and answers move between host memory and the first memory, as in
// plans without a second memory. If several devices take turns, they must have the same second memory.
//
// A policy makes such plans without knowing the two memories. The policy gets a request for another machine, the "shown
// machine". On the shown machine, the second memory of the devices is the host memory. The plan of the policy is then
// changed into a plan for the real machine.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "planning/candidate.hpp"
#include "planning/draft.hpp"
#include "planning/placement/computing_devices.hpp"

namespace sluice {

/// This value of the key `placement` makes the second memory the home of tensors that take turns.
inline constexpr const char* backing = "backing";

/// Returns why the second memory of the device named `device` cannot be the home of tensors that take turns. Returns
/// an empty text if it can.
std::string why_no_backing(const Platform& platform, const std::string& device);
/// Throws InputError at `placement` if why_no_backing() returns a reason. The message gives this reason.
void require_backing(const Platform& platform, const std::string& device, const Reader& parameters);

/// `plan` makes the policy's plan for the shown machine. backed_draft() calls `plan`, changes the result into a plan
/// for the real machine, and returns the changed plan. Throws what `plan` throws.
using PlanOf = std::function<Draft(const PolicyRequest& shown)>;
Draft backed_draft(const PolicyRequest& request, const ComputingDevices& on, const PlanOf& plan);

/// backed_candidates() returns the candidates of the policy for the shown machine. Each candidate is judged by its plan
/// for the real machine. Therefore the lower bound of the candidate must hold for the real machine. On the real machine
/// (PolicyRequest::real_machine), the inputs, the answers and the weights from host memory use other links than on the
/// shown machine.
using CandidatesOf = std::function<std::vector<Candidate>(const PolicyRequest& shown)>;
std::vector<Candidate> backed_candidates(const PolicyRequest& request, const ComputingDevices& on,
                                         const CandidatesOf& candidates);

/// The homes that tensors may have if they take turns: host memory (`host`), the second memory (`backing`), or both.
/// With both, the candidates for one home are compared with those for the other home.
struct Homes {
  bool host = false, backing = false;
};

/// Adds the placement to the text of a candidate's choices.
std::string with_placement(const std::string& placement, const std::string& text);

/// How the plans of a policy class the tensors that pass from stage to stage in inference.
struct PassedTensors {
  /// Whether a later stage reads an input of the model as a tensor of the class `input`. If not, the input is a part of
  /// the activations between the stages.
  bool inputs_stay = false;
  /// Whether a part of the answer passes through all later stages, as an activation. If not, it leaves the device at
  /// once, as an answer.
  bool answers_pass = false;
};

/// One way to make the choices that a scenario leaves open: the choices as text of a scenario, and the plan.
struct FixedPlan {
  std::string text;
  PlanOf plan;
};

/// Returns a function that returns one candidate for each of these plans.
CandidatesOf candidates_of(std::vector<FixedPlan> fixed);

/// Functions that return the candidates and the plan of a policy. Each function is called for the real machine or for
/// the shown machine.
struct PlansForMachine {
  CandidatesOf candidates;  ///< returns no candidates if the scenario leaves no choice open
  PlanOf plan;              ///< returns the plan that the scenario describes
  /// Returns a lower bound of the seconds of all plans that fit into the first memory of the device. The
  /// bound also holds for a machine with slower copies and kernels. If the function is null, no bound is known.
  std::function<double(const PolicyRequest& machine)> at_least = {};
  /// Like `at_least`, but only for training, and for plans with any fates. The bound takes longer to compute, and may be
  /// greater. It is infinite if no fates fit.
  std::function<double(const PolicyRequest& machine)> any_fates = {};
  /// Returns a text. If two requests differ only in their strategies for fates and have equal texts, the policy has the
  /// same candidates for both on each machine. If the function is null or returns an empty text, nothing is known.
  std::function<std::string(const PolicyRequest& machine)> same_ways = {};
  ComputingDevices on = {};  ///< the devices that compute
  PassedTensors passed = {};
  /// Whether tensors take turns on the devices. If not, they need no home.
  bool takes_turns = true;
  /// If the memories and rates of the machine decide nothing in the policy's plans, or only the places of loads: the
  /// plans for all ways to make the open choices. If they may decide something else, the list is empty.
  std::vector<FixedPlan> fixed = {};
};

/// Returns the candidates for each home in `homes`, and the candidates in `others`. If the policy has no candidates
/// because the scenario leaves no choice open, the plan for each home becomes a candidate.
std::vector<Candidate> candidates_of_homes(const PolicyRequest& request, Homes homes,
                                           const PlansForMachine& of_policy,
                                           std::vector<Candidate> others = {});

}  // namespace sluice
