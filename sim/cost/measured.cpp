// measured: a layer takes as long as it was measured to take.
#include "cost/cost.hpp"

namespace sluice {
namespace {

[[noreturn]] void refuse(const Work& work) {
  const std::string name = "layer '" + work.layer->name + "'";
  const std::string pass = " of the " + std::string(work.pass) + " pass";
  if (work.measured_batch == 0)
    throw InputError(
        "the cost model measured needs seconds that were measured, and the model has "
        "none: " +
        name + " has no '" + std::string(work.pass) + "'");
  if (work.measured_batch != work.samples)
    throw InputError(name + " was measured for " + std::to_string(work.measured_batch) +
                     " samples, and is asked for " + std::to_string(work.samples) +
                     "; measured seconds are not interpolated: expected a micro-batch of " +
                     std::to_string(work.measured_batch));
  throw InputError(name + " has no measured seconds" + pass + " for " +
                   std::to_string(work.samples) + " samples");
}

double seconds(const Work& work, const Device& device, DType dtype) {
  if (work.measured_s) return *work.measured_s;
  // An input, or the update of a stage's weights: no layer's, and in no profile.
  if (!work.layer) return cost_catalog().find("peak").seconds(work, device, dtype);
  refuse(work);
}

}  // namespace

extern const CostModel measured_cost = {
    .name = "measured",
    .summary =
        "The seconds that were measured for the layer and this many samples, whatever the device; "
        "updates of weights, which are no layer's, as under peak.",
    .source = "Narayanan et al., PipeDream (SOSP 2019), section 3.1",
    .seconds = seconds,
    .of_measured_batch = true,
};

}  // namespace sluice
