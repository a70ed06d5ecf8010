// Under the policy `sharded`, each stage and its weights stay on one device. Batches go through all devices, one after
// the other. If two consecutive stages are on different devices, activations go over the links between these devices.
// The document 'PopART phased execution' calls this policy --sharded-execution.
//
// If no link is shared, a micro-batch takes the sum of the seconds of its computations and of its transfers between
// devices. In this time, the next input is loaded, and the previous answer is saved.
#include <algorithm>

#include "base/error.hpp"
#include "document/key.hpp"
#include "planning/forward_program.hpp"
#include "planning/placement/placement_key.hpp"
#include "planning/program_listing.hpp"
#include "policy/placed_policy.hpp"
#include "workload/rounds.hpp"

namespace sluice {

namespace {

/// Returns the device of each stage. If the scenario does not list these devices, all devices of the platform get about
/// equally many consecutive stages. If there are fewer stages than devices, only the first devices get a stage.
std::vector<std::string> devices_of_stages(const PolicyRequest& request, const Reader& parameters) {
  const Platform& platform = request.pricing.platform;
  const std::size_t stages = request.pricing.stages.size();
  std::vector<std::string> devices;
  if (!parameters.has("devices")) {
    const std::size_t count = std::min(platform.devices.size(), stages);
    for (std::size_t s = 0; s < stages; ++s)
      devices.push_back(platform.devices[s * count / stages].name);
    return devices;
  }
  for (const Value& name : parameters.value("devices")->items())
    devices.push_back(located(name, [&] { return platform.device(name.text()).name; }));
  if (devices.size() != stages)
    parameters.fail("devices", "the number of devices in 'devices' is " +
                                   std::to_string(devices.size()) +
                                   ", and the number of stages is " + std::to_string(stages) +
                                   ": give one device per stage");
  return devices;
}

Draft plan_sharded(const PolicyRequest& request, const Reader& parameters) {
  const std::vector<std::string> devices = devices_of_stages(request, parameters);
  const Program program =
      forward_program(request, {.devices = devices,
                                .round = round_of(request.workload),
                                .return_outputs = parameters.text("outputs") == "return"});
  ProgramListing listing{.request = request,
                         .program = program,
                         .name = "sharded",
                         .overlap = parameters.boolean("overlap")};
  for (std::size_t s = 0; s < devices.size(); ++s)
    listing.facts.push_back(Fact("device_of_stage", devices[s]).said_of(std::to_string(s)));
  Draft draft = list_program(listing);
  draft.decisions = no_decisions;
  return draft;
}

std::vector<Field> parameters() {
  return {
      Key::list(
          "devices",
          "the device of each stage; by default, all devices get equally many consecutive stages")
          .or_absent(),
      Key::boolean(
          "overlap",
          "whether inputs and answers move during computation; off: one action runs at a time")
          .by_default("true"),
      outputs_parameter(),
  };
}

PlansForMachine plans(const PolicyRequest& request, const Reader& parameters) {
  if (parameters.is_word("placement", backing))
    parameters.fail(
        "placement",
        "'backing' for 'placement': under policy sharded, each device keeps the weights of "
        "its stages. So no tensors take turns, and none needs a home in the second memory; "
        "use placement static or auto, or policy phased, whose weights take turns");
  const std::vector<std::string> devices = devices_of_stages(request, parameters);
  PlansForMachine plans{
      .plan =
          [&parameters](const PolicyRequest& machine) { return plan_sharded(machine, parameters); },
      .on = {each_once(devices), parameters.boolean("overlap")},
      .passed = {.inputs_stay = true, .answers_pass = true},
      .takes_turns = false};
  plans.fixed = {{"", plans.plan}};
  plans.candidates = candidates_of(plans.fixed);
  return plans;
}

const Policy without_placement = {
    .name = "sharded",
    .summary =
        "Each stage stays on one device, and batches run one after the other, without "
        "phases.",
    .details =
        "Use this policy for a model that fits onto several devices together, but not onto a "
        "single device. The weights are loaded once, and only boundary activations cross from "
        "device to device. Only one batch is computed at a time. Each device waits while the "
        "other devices compute. So each batch takes as long as all stages together.",
    .source = "PopART phased execution, --sharded-execution",
    .example = "sluice run sharded_ipu_pair workload.steps=2",
    .parameters = parameters(),
    .all_devices = true,
    .cuts = cuts_for_devices,
};

}  // namespace

extern const Policy sharded_policy;
const Policy sharded_policy = placed_policy(without_placement, stages_field(), plans);

}  // namespace sluice
