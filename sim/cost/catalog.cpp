// The catalog of cost models. To add a cost model, add a file in this folder and a line here.
#include "cost/cost.hpp"

namespace sluice {

// clang-format off
const Catalog<CostModel>& cost_catalog() {
  static const Catalog<CostModel> catalog("cost model", {
      SLUICE_ENTRY(CostModel, peak_cost),
      SLUICE_ENTRY(CostModel, roofline_cost),
      SLUICE_ENTRY(CostModel, measured_cost),
      SLUICE_ENTRY(CostModel, fitted_cost),
  });
  return catalog;
}
// clang-format on

}  // namespace sluice
