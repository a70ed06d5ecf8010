// Reads tables of operators in float32 on several GPUs, as NeuSight publishes them.
#include "profile/tables/table.hpp"

namespace sluice {

// In this table, n is the depth of the product, and k counts the columns of the result. The grids of thread blocks are
// evidence for this: for 96 of 100 products, the grid consists of whole tiles of the m x k result
// (analysis/validation/fitted.md).
extern const ForeignTable neusight_products_table = {
    .name = "neusight_products",
    .summary = "Reads b products of m x n by n x k in float32 on several GPUs.",
    .source = "NeuSight (MIT)",
    .heading = {"operator", "device", "b", "m", "n", "k", "latency_ms"},
    .map = R"yaml(
format: sluice-profile-map/1
header: {source: NeuSight (MIT)}
repeats: pooled
columns:
  operator: operator
  device: device
  sizes: {b: b, m: m, n: k, k: n}
  dtype: {text: float32}
  flop: {expression: 2 * $b * $m * $n * $k}
  bytes: {expression: 4 * $b * ($m * $k + $k * $n + $m * $n)}
  seconds_mean: {column: latency_ms, unit: ms}
)yaml"};

extern const ForeignTable neusight_rows_table = {
    .name = "neusight_rows",
    .summary = "Reads element-wise operators, softmax and layer norm of b rows of h elements.",
    .source = "NeuSight (MIT)",
    .heading = {"operator", "device", "b", "h", "latency_ms"},
    .map = R"yaml(
format: sluice-profile-map/1
header: {source: NeuSight (MIT)}
repeats: pooled
columns:
  operator: operator
  device: device
  sizes: {b: b, h: h}
  dtype: {text: float32}
  seconds_mean: {column: latency_ms, unit: ms}
)yaml"};

}  // namespace sluice
