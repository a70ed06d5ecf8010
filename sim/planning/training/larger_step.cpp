#include "planning/training/larger_step.hpp"

#include "base/quantity.hpp"
#include "planning/slots/row_position.hpp"

namespace sluice {

namespace {

PolicyRequest with_more(PolicyRequest request, std::int64_t more) {
  Workload& workload = request.workload;
  workload.batch =
      checked_add(workload.batch, checked_mul(more, workload.micro_batch, "batch"), "batch");
  return request;
}

std::int64_t micro_batches(const PolicyRequest& request) {
  return request.workload.batch / request.workload.micro_batch;
}

}  // namespace

std::optional<TrainingOrder> LargerStep::larger_order(const PolicyRequest& request,
                                                      const TrainingOrder& order,
                                                      std::int64_t more) {
  const std::int64_t per_batch = micro_batches(request);
  const auto passes = [](std::int64_t count, std::int64_t in_flight) {
    return (count + in_flight - 1) / in_flight;
  };
  TrainingOrder larger = order;
  if (*order.in_flight == per_batch) *larger.in_flight += more;
  if (order.weights_stay || !order.overlap ||
      passes(per_batch + more, *larger.in_flight) > passes(per_batch, *order.in_flight))
    return {};
  return larger;
}

LargerStep::LargerStep(const PolicyRequest& request, const TrainingOrder& larger, std::int64_t more)
    : request_(with_more(request, more)),
      order_(larger),
      larger_(request_, order_),
      per_batch_(micro_batches(request_)),
      more_(more),
      before_(1, 0) {
  for (const Program::Operation& operation : larger_.program().operations)
    before_.push_back(before_.back() + (is_additional(operation.micro_batch) ? 0 : 1));
}

ChosenStep::Offer LargerStep::offer(const ChosenStep::EarlyLoadLimits& limits) const {
  const ChosenStep::Offer larger = larger_.offer(limits);
  const Program& program = larger_.program();
  ChosenStep::Offer kept{.most = larger.most};
  for (std::size_t i = 0; i < larger.places.size(); ++i)
    if (!is_additional(program.instances[larger.instances[i]].micro_batch))
      // In the larger step, the load starts when operation `after` has been computed. This operation
      // may belong to the additional micro-batch. Then the load of the smaller step starts when the
      // smaller step's last operation before `after` has been computed.
      kept.places.push_back({operations_before(larger.places[i].at),
                             operations_before(larger.places[i].after + 1) - 1});
  return kept;
}

bool LargerStep::is_additional(std::int32_t micro_batch) const {
  return micro_batch >= 0 && micro_batch % per_batch_ >= per_batch_ - more_;
}

std::int64_t LargerStep::operations_before(std::int64_t operation) const {
  const auto count = static_cast<std::int64_t>(before_.size()) - 1;
  const RowPosition position = row_position(operation, count);
  return before_[position.index] - static_cast<std::int64_t>(position.steps_ago) * before_.back();
}

}  // namespace sluice
