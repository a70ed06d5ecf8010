// The catalog of cuts. To add a cut, add a file to this folder and a line here.
#include "stage/stage.hpp"

namespace sluice {

// clang-format off
const Catalog<Cut>& cut_catalog() {
  static const Catalog<Cut> catalog("cut", {
      SLUICE_ENTRY(Cut, whole_cut),
      SLUICE_ENTRY(Cut, per_layer_cut),
      SLUICE_ENTRY(Cut, single_tensor_cut),
      SLUICE_ENTRY(Cut, by_memory_cut),
      SLUICE_ENTRY(Cut, by_weight_cut),
      SLUICE_ENTRY(Cut, by_time_cut),
      SLUICE_ENTRY(Cut, explicit_cut),
      SLUICE_ENTRY(Cut, balanced_cut),
  });
  return catalog;
}
// clang-format on

}  // namespace sluice
