#include "planning/streaming/keys.hpp"

#include <algorithm>

#include "base/quantity.hpp"
#include "document/key.hpp"
#include "planning/placement/turns/shown_plans.hpp"

namespace sluice {

StreamedKeys streamed_keys(const PolicyRequest& request, const CommonParameters& common,
                           const Reader& parameters) {
  const auto open = [&](const char* key) {
    return !parameters.has(key) || parameters.is_word(key, "auto");
  };
  StreamedKeys keys;
  if (!open("in_flight"))
    keys.in_flight =
        std::min(parameters.integer("in_flight"), request.workload.micro_batches_per_step());
  if (!open("prefetch")) keys.prefetch = parameters.integer("prefetch");
  if (keys.prefetch.value_or(0) > 0 && !common.overlap)
    parameters.fail("prefetch",
                    "'" + std::to_string(*keys.prefetch) +
                        "' for 'prefetch': with 'overlap: false' no weights are loaded early; use "
                        "'prefetch: 0'");
  if (!open("buffers")) keys.buffers = parameters.integer("buffers");
  if (!open("pieces"))
    keys.piece = parameters.is_word("pieces", "whole") ? 0 : parameters.bytes("pieces");
  constexpr std::int64_t most_pieces = 1'000'000;
  std::int64_t weights = 0;
  for (const Stage& stage : request.pricing.stages)
    weights = checked_add(weights, stage.weight_bytes, "bytes of all weights");
  if (keys.piece.value_or(0) > 0 && weights / *keys.piece > most_pieces)
    parameters.fail("pieces", "'" + parameters.text("pieces") + "' for 'pieces': weights of " +
                                  format_bytes(weights) + " would need more than " +
                                  std::to_string(most_pieces) + " transfers; use larger pieces");
  if (!open("ahead")) keys.ahead = parameters.bytes("ahead");
  refuse_in_inference(parameters, {"resident_gradients", "resident_optimizer"},
                      "'resident' names all that stays");
  keys.resident = resident_key(parameters, request.pricing.stages, request.cut_open);
  if (!keys.resident.stays && asks_for_turns(request))
    keys.resident.stays.emplace(request.pricing.stages.size(), false);
  if (!common.overlap) {  // only one action runs at a time, so these choices make no difference
    keys.buffers = 1;
    keys.prefetch = 0;
    if (!keys.piece) keys.piece = 0;
  }
  if (request.fates) keys.offload = request.strategy().offloads_boundaries;
  return keys;
}

namespace {

Field staying_field(const char* name, const std::string& what) {
  return Key::
      list(name,
           "training: of the stages whose weights stay on the device because `resident` names them, the stages "
           "that also keep their " +
               what + " there; auto: all of them")
          .by_default("auto")
          .or_words({"auto", "none", "all"});
}

}  // namespace

std::vector<Field> with_staying_parameters(std::vector<Field> fields, const std::string& what) {
  std::vector<Field> staying = {
      Key::list(
          "resident",
          what +
              ": numbers from 1, ranges such as 6..14, or names; "
              "auto: the stages for which the run is shortest. If the scenario makes all other "
              "choices, auto means no stages. In training, gradients and optimizer state stay with the weights, unless "
              "the next two keys say otherwise")
          .by_default("auto")
          .or_words({"auto", "none", "all"}),
      staying_field("resident_gradients", "gradients"),
      staying_field("resident_optimizer", "optimizer state"),
  };
  for (Field& field : staying) fields.push_back(std::move(field));
  return fields;
}

std::vector<Field> streamed_parameters() {
  std::vector<Field> fields = {
      Key::integer(
          "in_flight",
          "how many micro-batches go through a group each time its weights have been loaded: at most all of a step. "
          "In training, auto takes the fewest passes that fit, and divides the micro-batches equally among "
          "the passes")
          .by_default("auto")
          .or_words({"auto"})
          .between(1, 1e9),
      Key::integer(
          "prefetch",
          "how many groups of weights may be loaded early; auto: as many groups as fit into the "
          "bytes of `ahead`")
          .by_default("auto")
          .or_words({"auto"})
          .at_most(1e6),
      Key::quantity(
          "pieces", Dimension::bytes,
          "the most bytes of one transfer of weights; whole: all weights of a group in one "
          "transfer")
          .by_default("auto")
          .or_words({"auto", "whole"})
          .at_least(1),
      Key::quantity(
          "ahead", Dimension::bytes,
          "bytes of memory for weights that are loaded early. These bytes are added to the peak of "
          "the run without early loads")
          .by_default("auto")
          .or_words({"auto"}),
  };
  return with_staying_parameters(std::move(fields), "the stages whose weights stay on the device");
}

}  // namespace sluice
