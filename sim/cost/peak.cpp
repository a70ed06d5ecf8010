// The cost model `peak`. The seconds of an operator are its FLOP divided by the device's FLOP/s.
#include "cost/cost.hpp"

namespace sluice {

namespace {

struct Peak final : Cost {
  Price of(const Query& query) const override {
    return {.seconds = peak_seconds(query.work, query.device, query.dtype),
            .flop = query.work.flop,
            .bytes = query.work.bytes};
  }

  Shares shares(const Device&) const override { return {.compute = 1, .memory = {}}; }
};

}  // namespace

extern const CostModel peak_cost = {
    .name = "peak",
    .summary =
        "An operator takes FLOP / (rate x efficiency) seconds, with the rate of the device. Bytes do not "
        "count.",
    .details =
        "Use `peak` for estimates by hand, and for machines of which only a rate is known. The cost model counts FLOP "
        "alone. It leaves out memory access and launches. So operators with few FLOP per byte take too few seconds. "
        "The platform's efficiency applies equally to all operators.",
    .source = "definition of a rate",
    .example = "sluice run alexnet_resident cost=peak",
    .make = [](const Reader&, const std::string&) -> std::shared_ptr<const Cost> {
      return std::make_shared<const Peak>();
    },
};

}  // namespace sluice
