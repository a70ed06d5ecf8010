// resident: the weights are loaded once and stay. Micro-batches run through all stages, one after the other, while
// the next inputs come in and the latest answers go out.
//
// The time of M micro-batches is as follows if no link is shared. First all weights are loaded (W). With overlap,
// each micro-batch then takes as long as the slowest of input load (I), computation (C) and output save (O). For
// constant times and two buffers, this is W + I + (M - 1) max(I, C, O) + C + O. Without overlap, it is W + M (I + C +
// O).
#include <algorithm>

#include "base/error.hpp"
#include "planning/forward_program.hpp"
#include "planning/only_candidate.hpp"
#include "planning/placement/backing.hpp"
#include "planning/placement/placed_draft.hpp"
#include "planning/program_listing.hpp"
#include "planning/training/training.hpp"
#include "policy/policy.hpp"

namespace sluice {

namespace {

/// The device keeps all weights. Tied weights are kept once, with the first stage that has them.
std::vector<Stage> held_once(std::vector<Stage> stages) {
  for (Stage& stage : stages) {
    stage.weight_bytes -= stage.tied_bytes;
    stage.tied_bytes = 0;
  }
  return stages;
}

PolicyRequest with_stages(const PolicyRequest& request, const std::vector<Stage>& stages) {
  const Pricing& pricing = request.pricing;
  return request.priced(
      {pricing.model, stages, pricing.platform, pricing.cost, pricing.dtype, pricing.training});
}

/// With `none`, everything is in one memory. `auto` compares this with placements in two memories.
constexpr const char* nowhere_else = "none";
constexpr const char* compared = "auto";

std::vector<Field> parameters_of_resident() {
  std::vector<Field> fields = common_parameters();
  Field placement = {
      .name = "placement",
      .type = Type::choice,
      .summary =
          "which tensors are in the device's second memory (in host memory, if it has only one); none: no tensors; "
          "backing: activations that are offloaded, which otherwise go to host memory; auto: the choice with the least "
          "time; default: auto if the device has two memories of its own and the cost model counts their bandwidths",
      .default_text = nowhere_else,
      .choices = {nowhere_else, compared}};
  for (const std::string& way : placements_of_plans()) placement.choices.push_back(way);
  placement.choices.push_back(backing);
  fields.push_back(std::move(placement));
  return fields;
}

bool places(const Reader& parameters) {
  const std::string way = parameters.text("placement");
  return way != nowhere_else && way != compared && way != backing;
}

/// Whether placements are tried with these fates. Those of the scenario must not depend on the size of
/// a memory, and must be the same for all layers of a stage. Where fates are open, only the placements
/// that keep everything are tried, because each strategy would need a search of its own.
bool places_with_fates(const PolicyRequest& request) {
  if (!request.workload.training) return true;
  const FateStrategy& strategy = request.strategy();
  if (request.fates_open) return strategy.name == "keep_all";
  return !strategy.searches && !strategy.selective;
}

/// The gradients of replicas are summed stage by stage. A placement divides those of a stage.
void require_summable(const PolicyRequest& request, const Reader& parameters) {
  if (request.sums_gradients)
    parameters.fail("placement",
                    "the gradients of replicas cannot be summed under the placement '" +
                        parameters.text("placement") + "'; use placement none or backing");
}

Draft plan_placed(const PolicyRequest& request, const Reader& parameters, const std::string& way) {
  require_summable(request, parameters);
  if (!places_with_fates(request)) {
    if (request.fates_open) {  // another attempt keeps everything
      require_placeable(request, read_common(request, parameters));
      throw Infeasible("a placement keeps everything where fates are open");
    }
    parameters.fail(
        "placement",
        "a placement can be combined with fates that keep, recompute or offload whole stages; the fates are '" +
            request.strategy().name +
            "': expected placement none, or fates such as keep_all, checkpoint or offload_all");
  }
  if (request.workload.training) refuse_common_in_training(parameters);
  return placed_draft(request, read_common(request, parameters), "resident", way);
}

/// Returns whether the memories and the cost model have what a placement needs.
bool can_place(const PolicyRequest& request, const Reader& parameters) {
  try {
    require_placeable(request, read_common(request, parameters));
    return true;
  } catch (const InputError&) {
    return false;
  } catch (const Infeasible&) {
    return false;
  }
}

/// Adds the plans with placed tensors to the other candidates of training.
void add_placed(const PolicyRequest& request, const Reader& parameters,
                std::vector<Candidate>& candidates) {
  for (const std::string& way : placements_of_plans())
    candidates.push_back(only_candidate("placement: " + way, [&request, &parameters, way] {
      return finish(plan_placed(request, parameters, way), request);
    }));
}

TrainingOrder training_order(const PolicyRequest& request, const Reader& parameters) {
  refuse_common_in_training(parameters);
  const CommonParameters common = read_common(request, parameters);
  return {"resident", true, {}, {common.device.name}, common.overlap};
}

std::vector<Candidate> candidates_from_host(const PolicyRequest& asked, const Reader& parameters) {
  const auto stages = std::make_shared<const std::vector<Stage>>(held_once(asked.pricing.stages));
  return training_candidates(with_stages(asked, *stages), training_order(asked, parameters),
                             stages);
}

/// Whether plans with offloaded tensors in the second memory are made. They are made if `placement` says so, or to
/// compare them.
bool backs(const PolicyRequest& request, const Reader& parameters) {
  const Platform& platform = request.pricing.platform;
  const std::string& device = read_common(request, parameters).device.name;
  if (parameters.is_word("placement", backing)) {
    require_backing(platform, device, parameters);
    if (!request.workload.training)
      parameters.fail("placement",
                      "'backing' for 'placement': in inference, policy resident moves only inputs "
                      "and answers; use policy streamed, or another placement");
    return true;
  }
  return parameters.is_word("placement", compared) && request.workload.training &&
         request.strategy().name != "keep_all" && why_no_backing(platform, device).empty();
}

Draft plan_from_host(const PolicyRequest& asked, const Reader& parameters);

std::vector<Candidate> candidates(const PolicyRequest& asked, const Reader& parameters) {
  const bool back = backs(asked, parameters);
  if (!asked.workload.training || places(parameters)) return {};
  const auto from_host = [&parameters](const PolicyRequest& shown) {
    return candidates_from_host(shown, parameters);
  };
  const auto plan = [&parameters](const PolicyRequest& shown) {
    return plan_from_host(shown, parameters);
  };
  std::vector<Candidate> placed;
  if (parameters.is_word("placement", compared) && places_with_fates(asked) &&
      !asked.sums_gradients && can_place(asked, parameters))
    add_placed(asked, parameters, placed);
  return candidates_of_homes(asked, read_common(asked, parameters),
                             {!parameters.is_word("placement", backing), back}, {from_host, plan},
                             std::move(placed));
}

/// For inference: the numbers of inputs and answers that are on the device for transfers.
std::vector<Value> with_buffers(const PolicyRequest& request, const Reader& parameters) {
  const bool open = !parameters.has("buffers") || parameters.is_word("buffers", "auto");
  if (!open || !parameters.boolean("overlap")) return {};
  std::vector<Value> maps;
  for (const std::int64_t buffers : {2, 4, 1}) {
    if (buffers > usual_buffers &&
        round_of(request.workload, buffers - 1).micro_batches > longest_round)
      continue;
    maps.push_back(parameters.map());
    maps.back().set("buffers", Value::make(buffers));
  }
  return maps;
}

/// The placements to compare for a strategy that has no candidates because it searches by itself.
std::vector<Value> backing_or_not(const PolicyRequest& request, const Reader& parameters) {
  std::vector<Value> maps;
  if (!parameters.is_word("placement", compared) || !backs(request, parameters)) return maps;
  for (const char* way : {nowhere_else, backing}) {
    maps.push_back(parameters.map());
    maps.back().set("placement", Value::make(std::string(way)));
  }
  return maps;
}

std::vector<Value> alternatives(const PolicyRequest& request, const Reader& parameters) {
  if (request.workload.training) return backing_or_not(request, parameters);
  if (places(parameters)) return {};
  std::vector<Value> maps = with_buffers(request, parameters);
  if (!parameters.is_word("placement", compared)) return maps;
  if (maps.empty()) maps.push_back(parameters.map());
  for (Value& map : maps) map.set("placement", Value::make(std::string(nowhere_else)));
  if (!can_place(request, parameters)) return maps;
  for (const std::string& way : placements_of_plans()) {
    maps.push_back(parameters.map());
    maps.back().set("placement", Value::make(way));
  }
  return maps;
}

/// The number of inputs that are on the device in addition to the one that is being computed. It is all buffers but
/// one, or as many as there is room for.
std::int64_t inputs_ahead(const PolicyRequest& request, const CommonParameters& common,
                          ForwardShape shape) {
  const std::int64_t most = common.buffers - 1, input = stage_bytes(request).front().input;
  if (!request.capacity_enforced || !common.device.memory().capacity || input == 0) return most;
  shape.round = {};
  const std::int64_t room =
      *common.device.memory().capacity - forward_program(request, shape).peak();
  return std::min(most, std::max<std::int64_t>(0, room) / input);
}

Draft plan_from_host(const PolicyRequest& asked, const Reader& parameters) {
  const std::vector<Stage> stages = held_once(asked.pricing.stages);
  const PolicyRequest request = with_stages(asked, stages);
  if (request.workload.training) {
    TrainingOrder order = training_order(request, parameters);
    order.in_flight = 1;
    Draft draft = plan_training(request, order);
    draft.stages = stages;
    return draft;
  }
  const CommonParameters common = read_common(request, parameters);
  ForwardShape shape{.devices = std::vector<std::string>(stages.size(), common.device.name),
                     .return_outputs = common.return_outputs,
                     .buffers = common.buffers};
  shape.inputs_ahead = inputs_ahead(request, common, shape);
  shape.round = round_of(request.workload, shape.inputs_ahead);
  const Program program = forward_program(request, shape);
  Draft draft = list_program(
      {.request = request, .program = program, .name = "resident", .overlap = common.overlap});
  draft.stages = stages;
  draft.decisions = no_decisions;
  return draft;
}

Draft plan_resident(const PolicyRequest& asked, const Reader& parameters) {
  if (places(parameters)) return plan_placed(asked, parameters, parameters.text("placement"));
  if (!parameters.is_word("placement", backing)) return plan_from_host(asked, parameters);
  backs(asked, parameters);
  return backed_draft(asked, read_common(asked, parameters), [&](const PolicyRequest& shown) {
    return plan_from_host(shown, parameters);
  });
}

}  // namespace

extern const Policy resident_policy;
const Policy resident_policy = {
    .name = "resident",
    .summary =
        "Weights are loaded once and stay on the device, and micro-batches run one after the other.",
    .details =
        "Use it when the weights fit into the memory of the device: they cross the link once, and then each "
        "micro-batch costs only its input, its computation and its answer. The next input and the last answer are "
        "transferred during computation if there are several buffers. In training, gradients and the state of the "
        "optimizer stay on the device, too, and the fates say what becomes of activations. If the weights do not fit, "
        "the scenario is infeasible under this policy.",
    .source = "AlexNet on one card (what fits the card); the usual way where everything fits",
    .example = "sluice run alexnet_resident policy.buffers=3",
    .parameters = parameters_of_resident(),
    .modes = {{Mode::inference, {"keep_all"}}, {Mode::training}},
    .replicable = true,
    .cuts = [](const CutQuestion& question) { return cuts_with(question, {}); },
    .plan = plan_resident,
    .candidates = candidates,
    .alternatives = alternatives,
};

}  // namespace sluice
