#include "planning/phased/phases.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "document/key.hpp"
#include "planning/builder.hpp"
#include "planning/common_parameters.hpp"
#include "workload/rounds.hpp"

namespace sluice {

namespace {

/// Reads which devices compute the phases: all devices, which take turns, a single device, or a given device for each
/// stage.
void read_devices(PhaseRules& rules, const PolicyRequest& request, const Reader& parameters,
                  const Reader& phases) {
  const Platform& platform = request.pricing.platform;
  const std::size_t stages = request.pricing.stages.size();
  if (parameters.has("device"))
    rules.devices = {platform.device(parameters.text("device")).name};
  else if (phases.text("stages") == "1")
    rules.devices = {platform.devices.front().name};
  else
    for (const Device& device : platform.devices) rules.devices.push_back(device.name);
  if (parameters.has("device") && phases.has("stages") && phases.text("stages") == "2")
    phases.fail("stages",
                "with 'stages: 2', the devices take turns, but the policy's 'device' names "
                "one device: remove one of the two keys");
  if (!phases.has("devices")) return;
  if (parameters.has("device"))
    phases.fail("devices",
                "'devices' and the policy's 'device' both choose the devices of the phases: give "
                "only one of the two keys (the policy data_parallel sets 'device' for each "
                "replica)");
  rules.by_stage = true;
  rules.devices.clear();
  for (const Value& name : phases.value("devices")->items())
    rules.devices.push_back(located(name, [&] { return platform.device(name.text()).name; }));
  if (rules.devices.size() != stages)
    phases.fail("devices", "the number of devices in 'devices' is " +
                               std::to_string(rules.devices.size()) +
                               ", and the number of phases per batch is " + std::to_string(stages) +
                               ": give one device per phase");
}

/// Returns how many batches are in flight, if the scenario does not say this. While the activations of one batch are
/// moved, devices compute phases of the other batches. Let n be the number of devices that take turns. If n batches
/// are in flight, all phases of a batch are on the same device. If n + 1 batches are in flight, two consecutive phases
/// of a batch are on different devices: the later phase is on the next device.
std::int64_t default_in_flight(const PhaseRules& rules) {
  const std::int64_t n = rules.turning_devices();
  switch (rules.activations) {
    case Activations::on_chip:
      return 1;
    case Activations::pair_link:
      return n + 1;
    case Activations::streaming:
      return std::max<std::int64_t>(n, 2);
  }
  return 1;
}

/// Returns how many idle phases a stage can usefully have in the last turn of a step. Let n be the number of devices
/// that take turns. With n idle phases, each batch is computed on the same devices as without them. But if the
/// activations go through host memory, a device with n idle phases saves its results before it loads for its next
/// phase, and this order of transfers may be faster. More idle phases change nothing. If each stage has its own device,
/// no phase is idle.
std::int64_t most_idle_phases(const PhaseRules& rules) {
  if (rules.by_stage) return 0;
  return rules.turning_devices() - (rules.saves_boundaries() ? 0 : 1);
}

/// Returns the largest number of batches in flight that can matter. With this number, all batches of a step are in one
/// turn. In this turn, a stage has one phase per batch, and `rules.last_turn` may add idle phases.
std::int64_t most_in_flight(const PhaseRules& rules, const Workload& workload) {
  return workload.batches_per_step + most_idle_phases(rules);
}

/// Returns whether each stage can have `rules.last_turn` phases in the last turn of a step. If every turn
/// has `in_flight` batches, the number changes nothing, and the function returns true.
bool fits_last_turn(const PhaseRules& rules, const Workload& workload) {
  const std::int64_t left = rules.left_of_step(workload);
  return left == 0 || (left <= rules.last_turn && rules.last_turn <= rules.in_flight);
}

/// The greatest number of batches in flight that is tried if the scenario leaves the number open.
constexpr std::int64_t most_compared = 8;

void read_last_turn(PhaseRules& rules, const Workload& workload, const Reader& parameters) {
  if (parameters.is_word("last_turn", "auto")) return;
  if (rules.once_a_step || rules.by_stage)
    parameters.fail("last_turn",
                    "the last turn of a step has idle phases only if devices take turns and each "
                    "phase computes one batch: remove 'weights_per: step' and the 'devices' of "
                    "the phases, or use 'last_turn: auto'");
  rules.last_turn = parameters.integer("last_turn");
  const bool open = parameters.is_word("in_flight", "auto");
  if (open && rules.last_turn > most_compared)
    parameters.fail("last_turn", "at most " + std::to_string(most_compared) +
                                     " batches are tried with 'in_flight: auto', so no turn has " +
                                     std::to_string(rules.last_turn) +
                                     " phases per stage: give 'in_flight', or a smaller number");
  if (fits_last_turn(rules, workload)) return;
  if (open) {
    rules.in_flight = 1;  // then all turns, even the last turn of a step, have one batch
    return;
  }
  const std::int64_t left = rules.left_of_step(workload);
  parameters.fail("last_turn", std::to_string(left) +
                                   " of the batches of a step are left for the last turn, and " +
                                   std::to_string(rules.in_flight) +
                                   " batches are in flight: give a number from " +
                                   std::to_string(left) + " to " + std::to_string(rules.in_flight));
}

}  // namespace

PhaseRules read_phase_rules(const PolicyRequest& request, const Reader& parameters) {
  static const Keys nothing_said(Value::make_map(), phases_record());
  const Reader& phases = (request.phases ? *request.phases : nothing_said).reader();
  PhaseRules rules;
  rules.overlap = parameters.boolean("overlap");
  rules.preload = parameters.text("weights") == "preload";
  rules.once_a_step = parameters.text("weights_per") == "step";
  rules.real_data = parameters.text("host_data") == "real";
  rules.return_outputs = parameters.text("outputs") == "return";
  const std::string place = phases.text("activations");
  rules.activations = place == "on_chip"     ? Activations::on_chip
                      : place == "pair_link" ? Activations::pair_link
                                             : Activations::streaming;
  read_devices(rules, request, parameters, phases);
  if (rules.once_a_step && !parameters.is_word("in_flight", "auto"))
    parameters.fail(
        "in_flight",
        "with 'weights_per: step' a phase computes all batches of a step: use 'in_flight: auto'");
  rules.in_flight =
      parameters.is_word("in_flight", "auto")
          ? std::min(default_in_flight(rules), most_in_flight(rules, request.workload))
          : parameters.integer("in_flight");
  read_last_turn(rules, request.workload, parameters);
  return rules;
}

namespace {

/// Returns how many phases a stage has in a unit of this many batches.
std::int64_t phases_of_stage(const PhaseRules& rules, std::int64_t unit_batches) {
  if (rules.once_a_step) return 1;
  const std::int64_t left = unit_batches % rules.in_flight;
  return unit_batches - left + rules.phases_of_turn(left);
}

}  // namespace

std::vector<Phase> phases_of(const PhaseRules& rules, const Workload& workload, std::size_t stages,
                             std::int64_t unit_batches, std::int64_t units) {
  const std::int64_t per_batch = workload.batch / workload.micro_batch;
  const std::int64_t per_phase = rules.once_a_step ? workload.batches_per_step : 1;
  const std::int64_t turns = rules.once_a_step ? 1 : rules.in_flight;
  const std::int64_t of_stage =
      std::max(unit_batches * per_batch, phases_of_stage(rules, unit_batches));
  refuse_long_round(units * of_stage, stages);
  std::vector<Phase> phases;
  for (std::int64_t unit = 0; unit < units; ++unit)
    for (std::int64_t batch = 0; batch < unit_batches; batch += turns * per_phase) {
      const std::int64_t end = std::min(batch + turns * per_phase, unit_batches);
      const std::int64_t phases_of_turn = rules.once_a_step ? 1 : rules.phases_of_turn(end - batch);
      for (std::size_t stage = 0; stage < stages; ++stage)
        for (std::int64_t turn = 0; turn < phases_of_turn; ++turn) {
          const std::string& device = rules.by_stage
                                          ? rules.devices[stage]
                                          : rules.devices[phases.size() % rules.devices.size()];
          Phase& phase = phases.emplace_back(Phase{stage, device, {}});
          const std::int64_t b = batch + turn * per_phase;
          const std::int64_t first = (unit * unit_batches + b) * per_batch;
          for (std::int64_t m = 0; b < end && m < per_phase * per_batch; ++m)
            phase.micro_batches.push_back(first + m);
        }
    }
  return phases;
}

namespace {

PhaseRound round_of_units(const PhaseRules& rules, const Workload& workload, std::size_t stages,
                          std::int64_t unit_batches) {
  const std::int64_t per_step = workload.batches_per_step / unit_batches;
  const std::int64_t all = checked_mul(workload.steps, per_step, "rounds of a run");
  PhaseRound round{.unit_batches = unit_batches};
  if (!rules.by_stage) {
    const auto devices = static_cast<std::int64_t>(rules.devices.size());
    const std::int64_t phases =
        static_cast<std::int64_t>(stages) * phases_of_stage(rules, unit_batches);
    round.units = std::min(devices / std::gcd(devices, phases), all);
  }
  round.iterations = all / round.units;
  round.rest = all % round.units;
  const std::int64_t shared = std::gcd(per_step, round.units);
  round.iterations_per_step = per_step / shared;
  round.steps_per_iteration = round.units / shared;
  return round;
}

/// Returns the number of batches that go through all stages before other batches begin.
std::int64_t turn_batches(const PhaseRules& rules, const Workload& workload) {
  return rules.once_a_step ? workload.batches_per_step : rules.in_flight;
}

}  // namespace

PhaseRound round_of_steps(const PhaseRules& rules, const Workload& workload, std::size_t stages) {
  return round_of_units(rules, workload, stages, workload.batches_per_step);
}

PhaseRound round_of(const PhaseRules& rules, const Workload& workload, std::size_t stages) {
  const std::int64_t turn = turn_batches(rules, workload);
  if (workload.batches_per_step % turn == 0) {
    const PhaseRound round = round_of_units(rules, workload, stages, turn);
    if (round.iterations_per_step == 1 || round.steps_per_iteration == 1) return round;
  }
  return round_of_steps(rules, workload, stages);
}

namespace {

/// Returns whether a unit (PhaseRound) is a whole step with more than `longest_round` batches. A number of batches in
/// flight that leads to such a long unit is tried only if the scenario gives this number.
bool is_long(const PhaseRules& rules, const Workload& workload) {
  return workload.batches_per_step > longest_round && rules.left_of_step(workload) != 0;
}

/// Returns the numbers of phases that a stage may have in the last turn of a step, fewest first. If every turn has
/// equally many batches, or if idle phases cannot matter, the only number is 0.
std::vector<std::int64_t> last_turns(const PhaseRules& rules, const Workload& workload) {
  const std::int64_t left = rules.left_of_step(workload), idle = most_idle_phases(rules);
  if (rules.last_turn > 0 && !fits_last_turn(rules, workload)) return {};
  if (left == 0) return {0};
  if (rules.last_turn > 0) return {rules.last_turn};  // the scenario says this number
  if (idle == 0) return {0};
  const std::int64_t most = std::min(rules.in_flight, left + idle);
  std::vector<std::int64_t> turns;
  for (std::int64_t turn = left; turn <= most; ++turn) turns.push_back(turn);
  return turns;
}

}  // namespace

std::vector<PhaseTurns> turns_to_compare(PhaseRules rules, const Workload& workload,
                                         const Reader& parameters) {
  const bool open = parameters.is_word("in_flight", "auto");
  const std::int64_t batches = workload.batches_per_step;
  const std::int64_t useful = most_in_flight(rules, workload);
  std::vector<PhaseTurns> compared;
  for (std::int64_t count = open ? 1 : rules.in_flight;
       count <= (open ? std::min(most_compared, useful) : rules.in_flight); ++count) {
    rules.in_flight = count;
    if (open && count > 1 && is_long(rules, workload)) continue;
    for (const std::int64_t turn : last_turns(rules, workload)) {
      // If a step has only one turn, its phases do not depend on the number in flight.
      if (!open || count <= batches || turn == count) compared.push_back({count, turn});
    }
  }
  return compared;
}

std::vector<Field> phase_parameters() {
  return {
      Key::text(
          "device",
          "the device that computes all phases (this is called parallel streaming); by default, the devices "
          "of the platform take turns")
          .or_absent(),
      Key::boolean(
          "overlap",
          "whether transfers run during computation; off: the actions run one after the other")
          .by_default("true"),
      Key::choice(
          "weights", {"preload", "on_demand"},
          "when the loads of a phase start; preload: during the previous phase; on_demand: when the phase begins")
          .by_default("preload"),
      Key::choice(
          "weights_per", {"batch", "step"},
          "how often weights are loaded; batch: for each batch; step: once per step, because a phase computes all "
          "batches of the step, which is called batch serialisation")
          .by_default("batch"),
      Key::integer(
          "in_flight",
          "the number of batches that take turns phase by phase; auto: in inference, the number from "
          "1 to 8 with the fastest run; in training, the number with the fastest run that fits")
          .by_default("auto")
          .or_words({"auto"})
          .between(1, 1e6),
      Key::integer(
          "last_turn",
          "inference: the number of phases that each stage has in the last turn of a step, if fewer than "
          "in_flight batches are left for this turn; phases without a batch are idle; auto: the "
          "fastest number")
          .by_default("auto")
          .or_words({"auto"})
          .between(1, 1e6),
      Key::choice(
          "host_data", {"real", "synthetic"},
          "real: inputs come from the host and answers go to the host; synthetic: inputs and answers are not moved")
          .by_default("real"),
      outputs_parameter(),
  };
}

const Record& phases_record() {
  static const Record record = {
      .name = "phases",
      .summary =
          "The devices of the phases, and the places of the activations, in phased "
          "execution.",
      .fields = {
          Key::choice(
              "activations", {"on_chip", "pair_link", "streaming"},
              "how activations go to the next phase; on_chip: at no cost, as the document "
              "'PopART phased execution' assumes; pair_link: over the link between the devices; streaming: "
              "through streaming memory, with a save and a load")
              .by_default("on_chip"),
          Key::choice(
              "stages", {"1", "2"},
              "how many devices compute the stages of a batch; 2: the devices take turns, which is called "
              "ping-pong; 1: all phases are on one device")
              .by_default("2"),
          Key::list(
              "after",
              "the numbers or names of the layers after which a phase ends. They replace the scenario's `stages`")
              .or_absent(),
          Key::list("devices",
                    "the device of each phase of a batch; by default, the devices of the "
                    "platform take turns")
              .or_absent(),
      }};
  return record;
}

}  // namespace sluice
