// The catalog of optimizers. To add an optimizer, add a file in optimizers/ and a line here.
#include "workload/training.hpp"

namespace sluice {

// clang-format off
const Catalog<Optimizer>& optimizer_catalog() {
  static const Catalog<Optimizer> catalog("optimizer", {
      SLUICE_ENTRY(Optimizer, sgd_optimizer),
      SLUICE_ENTRY(Optimizer, momentum_optimizer),
      SLUICE_ENTRY(Optimizer, adam_optimizer),
      SLUICE_ENTRY(Optimizer, none_optimizer),
  });
  return catalog;
}
// clang-format on

}  // namespace sluice
