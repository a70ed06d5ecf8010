#include "study/placement/answer.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "document/object.hpp"

namespace sluice {

const std::vector<std::string>& placement_columns() {
  static const std::vector<std::string> columns = {"way",
                                                   "fast_bytes",
                                                   "fast_share",
                                                   "slowdown",
                                                   "predicted_s",
                                                   "simulated_s",
                                                   "bound_s",
                                                   "gap",
                                                   "moves_to_fast",
                                                   "moves_to_slow",
                                                   "moves_beside",
                                                   "bytes_to_fast",
                                                   "bytes_to_slow",
                                                   "bytes_beside",
                                                   "hit_bytes",
                                                   "miss_bytes",
                                                   "written_back_bytes",
                                                   "oracle_s",
                                                   "refused"};
  return columns;
}

Value placement_row(const PlacementCurve& curve, const PlacementResult& result) {
  const PlacementResult::MoveTotals moved = result.move_totals(curve.question);
  if (!result.refused.empty())
    return object({{"way", result.way},
                   {"fast_bytes", result.capacity},
                   {"fast_share", curve.fraction(result)},
                   {"refused", result.refused}});
  return object({{"way", result.way},
                 {"fast_bytes", result.capacity},
                 {"fast_share", curve.fraction(result)},
                 {"slowdown", curve.slowdown(result)},
                 {"predicted_s", result.predicted_s},
                 {"simulated_s", result.schedule ? Item(result.simulated_s) : Item(nullptr)},
                 {"bound_s", result.bound_s},
                 {"gap", result.gap()},
                 {"moves_to_fast", moved.to_fast},
                 {"moves_to_slow", moved.to_slow},
                 {"moves_beside", moved.beside},
                 {"bytes_to_fast", moved.to_fast_bytes},
                 {"bytes_to_slow", moved.to_slow_bytes},
                 {"bytes_beside", moved.beside_bytes},
                 {"hit_bytes", result.cached ? Item(result.cached->hit_bytes) : Item(nullptr)},
                 {"miss_bytes", result.cached ? Item(result.cached->miss_bytes) : Item(nullptr)},
                 {"written_back_bytes",
                  result.cached ? Item(result.cached->written_back_bytes) : Item(nullptr)},
                 {"oracle_s", result.oracle_s}});
}

const PlacementResult* placement_of_worths(const PlacementCurve& curve) {
  const PlacementResult* shown = nullptr;
  for (const PlacementResult& result : curve.results)
    if (result.way == "static" && result.refused.empty() &&
        (!shown || curve.fraction(result) <= 0.5))
      shown = &result;
  return shown;
}

Value worth_rows(const PlacementCurve& curve, const PlacementResult& result, std::size_t top) {
  if (!result.schedule)
    throw UsageError("'" + result.way + "' has no placement of tensors at this size" +
                     (result.refused.empty() ? "" : ": " + result.refused));
  std::vector<TensorWorth> all = worth_of(curve.question, result.schedule->placing);
  all.resize(std::min(all.size(), top));
  const PlacementProblem& problem = curve.question.problem();
  return list_of(all, [&](const TensorWorth& worth) {
    const PlacementProblem::Tensor& tensor = curve.question.tensor(worth.tensor);
    return object({{"name", tensor.name},
                   {"class", name_of(tensor.tensor_class)},
                   {"bytes", tensor.bytes},
                   {"memory", worth.fast ? problem.fast : problem.slow},
                   {"worth_s", worth.seconds}});
  });
}

Value placement_document(const PlacementCurve& curve, std::size_t top) {
  const PlacementProblem& problem = curve.question.problem();
  const PlacementResult* shown = placement_of_worths(curve);
  return object(
      {{"format", "sluice-placement/1"},
       {"scenario", curve.scenario},
       {"cost_model", curve.cost_model},
       {"in_place", curve.in_place ? Item(object({{"read_bytes_per_s", curve.in_place->to_fast},
                                                  {"write_bytes_per_s", curve.in_place->to_slow}}))
                                   : Item(nullptr)},
       {"device", problem.device},
       {"fast", problem.fast},
       {"slow", problem.slow},
       {"fast_capacity_bytes", curve.fast_capacity},
       {"needed_bytes", curve.needed},
       {"tensors", curve.question.tensor_count()},
       {"kernels", curve.question.kernel_count()},
       {"all_fast_s", curve.all_fast_s},
       {"results",
        list_of(curve.results,
                [&](const PlacementResult& result) { return placement_row(curve, result); })},
       {"worth", !shown ? Item(nullptr)
                        : Item(object({{"fast_bytes", shown->capacity},
                                       {"tensors", worth_rows(curve, *shown, top)}}))}});
}

}  // namespace sluice
