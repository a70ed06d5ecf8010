// Reads times of kernels, where each row says in which memory each input and each output was. Each kernel was measured
// in two ways: alone (method `single`), and together with many other kernels (method `simultaneous`).
#include "profile/tables/table.hpp"

namespace sluice {

extern const ForeignTable placement_table = {
    .name = "placement",
    .summary =
        "Reads times of nGraph's kernels with tensors in DRAM or PMEM. Each kernel was measured alone, and together with "
        "other kernels.",
    .source = "Hildebrand et al., AutoTM (ASPLOS 2020); the notebook of ml-tools (MIT)",
    .heading = {"node", "op", "input_placement", "output_placement", "mean_us_simultaneous",
                "mean_us_single"},
    .map = R"yaml(
format: sluice-profile-map/1
header: {source: ml-tools (MIT)}
columns:
  operator: op
  node: node
  input_pools: {column: input_placement, separator: ","}
  output_pools: {column: output_placement, separator: ","}
each:
- method: {text: simultaneous}
  seconds_mean: {column: mean_us_simultaneous, unit: us}
- method: {text: single}
  seconds_mean: {column: mean_us_single, unit: us}
)yaml"};

}  // namespace sluice
