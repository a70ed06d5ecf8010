// measured: a layer takes as long as it was measured to take.
#include "cost/cost.hpp"

namespace sluice {
namespace {

bool goes_forward(Pass pass) {
  return pass == Pass::forward || pass == Pass::recompute;
}

[[noreturn]] void refuse(const Query& query) {
  const std::string name = "layer '" + query.layer->name + "'";
  const std::string pass = goes_forward(query.pass) ? "forward" : "backward";
  const std::int64_t batch = query.model->measured_batch;
  if (batch == 0)
    throw InputError(
        "the cost model measured needs seconds that were measured, and the model has "
        "none: " +
        name + " has no '" + pass + "'");
  if (batch != query.samples)
    throw InputError(name + " was measured for " + std::to_string(batch) +
                     " samples, and is asked for " + std::to_string(query.samples) +
                     "; measured seconds are not interpolated: expected a micro-batch of " +
                     std::to_string(batch));
  throw InputError(name + " has no measured seconds of the " + pass + " pass for " +
                   std::to_string(query.samples) + " samples");
}

struct Measured final : Cost {
  Price of(const Query& query) const override {
    Price price{.flop = query.work.flop, .bytes = query.work.bytes};
    if (!query.layer) {  // the update of a stage's weights is in no profile
      price.seconds = peak_seconds(query.work, query.device, query.dtype);
      return price;
    }
    if (!does_work(*query.layer, query.pass)) return price;
    const std::optional<double>& seconds =
        goes_forward(query.pass) ? query.layer->forward_s : query.layer->backward_s;
    if (!seconds || query.model->measured_batch != query.samples) refuse(query);
    price.seconds = price.measured_s = *seconds * share_of(query.layer->backward, query.pass);
    return price;
  }

  std::int64_t only_samples(const Model& model) const override { return model.measured_batch; }
};

}  // namespace

extern const CostModel measured_cost = {
    .name = "measured",
    .summary =
        "The seconds that were measured for the layer and this many samples, whatever the device; "
        "updates of weights, which are no layer's, as under peak.",
    .source = "Narayanan et al., PipeDream (SOSP 2019), section 3.1",
    .make = [](const Reader&, const std::string&) -> std::shared_ptr<const Cost> {
      return std::make_shared<const Measured>();
    },
};

}  // namespace sluice
