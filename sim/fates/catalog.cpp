// The catalog of the strategies for fates. To add a strategy, add a file to this folder and a line here.
#include "fates/strategy.hpp"

namespace sluice {

// clang-format off
const Catalog<FateStrategy>& fate_catalog() {
  static const Catalog<FateStrategy> catalog("strategy for fates", {
      SLUICE_ENTRY(FateStrategy, keep_all_fates),
      SLUICE_ENTRY(FateStrategy, recompute_all_fates),
      SLUICE_ENTRY(FateStrategy, offload_all_fates),
      SLUICE_ENTRY(FateStrategy, sqrt_fates),
      SLUICE_ENTRY(FateStrategy, checkpoint_fates),
      SLUICE_ENTRY(FateStrategy, selective_fates),
      SLUICE_ENTRY(FateStrategy, listed_fates),
      SLUICE_ENTRY(FateStrategy, optimal_fates),
  });
  return catalog;
}
// clang-format on

}  // namespace sluice
