// Reads times and energies of operators of torchvision's networks. Each operator was measured in a
// loop on an A30.
#include "profile/tables/table.hpp"

namespace sluice {

extern const ForeignTable a30_table = {
    .name = "a30_operators",
    .summary = "Reads modules of torch with the time and the energy of one call.",
    .source = "Operators of networks for images on an A30, with and without tensor cores",
    .heading = {"gpu_config", "operator", "input_shape", "time_per_iter_s", "energy_per_iter_mJ"},
    .map = R"yaml(
format: sluice-profile-map/1
header: {joules: whole}
repeats: pooled
columns:
  operator: {column: operator, until: "("}
  config: operator
  inputs: input_shape
  batch: {column: input_shape, until: x}
  device: gpu_config
  dtype: {text: float32}
  cache: {text: hot}
  calls: iterations
  seconds_mean: time_per_iter_s
  seconds_std: time_std_s
  joules_mean: {column: energy_per_iter_mJ, unit: mJ}
  joules_std: {column: energy_std_mJ, unit: mJ}
  joules_error: {column: energy_err_mJ, unit: mJ}
)yaml"};

}  // namespace sluice
