// peak: an operator takes its FLOP at the device's rate, and nothing else.
#include "cost/cost.hpp"

namespace sluice {
namespace {

double seconds(const Work& work, const Device& device, DType dtype) {
  return work.flop == 0 ? 0 : work.flop / device.flop_per_s(dtype);
}

}  // namespace

extern const CostModel peak_cost = {
    .name = "peak",
    .summary = "FLOP / (rate x efficiency) of the device.",
    .source = "definition of a rate",
    .seconds = seconds,
};

}  // namespace sluice
