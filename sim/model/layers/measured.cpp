// The layer type `measured` is for a layer whose operations are unknown: only its seconds and sizes
// are known.
#include "base/quantity.hpp"
#include "document/key.hpp"
#include "model/catalog.hpp"
#include "model/layers/shape.hpp"

namespace sluice {
namespace {

LayerCounts infer(const Reader& keys, const std::vector<const Shape*>& inputs) {
  if (!keys.has("forward"))
    keys.fail("type",
              "the key 'forward' is missing in layer type measured (seconds of the forward "
              "pass); expected a quantity like '7.7ms'");
  LayerCounts counts;
  counts.shape = keys.has("shape") ? read_shape(keys, "shape") : *inputs[0];
  counts.parameters = keys.integer("parameters");
  counts.macs = keys.integer("macs");
  const std::int64_t products = checked_mul(counts.macs, 2, "FLOP");
  counts.flop = keys.has("flop") ? keys.integer("flop") : products;
  if (counts.flop < products)
    keys.fail("flop",
              "'" + std::to_string(counts.flop) + "' for 'flop': " + std::to_string(counts.macs) +
                  " multiply-accumulates are at least " + std::to_string(products) + " FLOP");
  Backward& backward = counts.backward;
  backward.input_flop = counts.flop;
  if (counts.parameters > 0) backward.weight_flop = counts.flop;
  const std::string keeps = keys.text("keeps");
  backward.reads_inputs = keeps == "inputs";
  backward.reads_output = keeps == "output";
  backward.kept = keys.integer("kept");
  backward.kept_bytes = keys.has("kept_bytes") ? keys.bytes("kept_bytes") : 0;
  return counts;
}

Field count_field(const char* name, const char* summary) {
  return Key::integer(name, summary).by_default("0");
}

}  // namespace

extern const LayerType measured_layer = {
    .name = "measured",
    .summary =
        "Describes a layer by its measured seconds, `forward` and `backward`, and its sizes.",
    .details =
        "Use this layer with the cost model `measured`, for layers of which only seconds and sizes are known. Graphs "
        "of PipeDream have such layers. The seconds are for a batch. The model's key `measured_batch` says how many "
        "samples this batch has.",
    .source = "Narayanan et al., PipeDream (SOSP 2019), section 3.1, the profile of a layer",
    .example =
        "{type: input, shape: [2048, 6144]}, {type: measured, shape: [2048, 6144], forward: 7.7ms, backward: 11.9ms}",
    .parameters =
        {Key::list(
             "shape",
             "the extents of the output for one sample; by default the extents of the first input")
             .or_absent(),
         count_field("parameters", "learned elements"),
         count_field("macs", "multiply-accumulates of the forward pass"),
         Key::integer("flop", "FLOP of the forward pass; by default 2 FLOP per multiply-accumulate")
             .or_absent(),
         Key::choice(
             "keeps", {"inputs", "output", "nothing"},
             "what the backward pass reads of the inputs and the output: `inputs`, `output`, or `nothing`")
             .by_default("inputs"),
         count_field(
             "kept",
             "the number of elements that are kept for the backward pass in addition to inputs and "
             "output"),
         Key::quantity(
             "kept_bytes", Dimension::bytes,
             "the number of additional kept bytes that do not depend on the dtype, such as the bytes of "
             "masks")
             .or_absent()},
    .min_inputs = 1,
    .max_inputs = any_number,
    .infer = infer,
};

}  // namespace sluice
