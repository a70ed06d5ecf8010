// Reads tables of products of matrices, as AIConfigurator publishes them.
#include "profile/tables/table.hpp"

namespace sluice {

extern const ForeignTable gemm_table = {
    .name = "gemm",
    .summary = "Reads products in bfloat16: m, n, k and milliseconds.",
    .source = "AIConfigurator (Apache-2.0)",
    .heading = {"m", "n", "k", "latency_ms"},
    .map = R"yaml(
format: sluice-profile-map/1
header: {source: AIConfigurator (Apache-2.0)}
file_name: device
columns:
  operator: {text: gemm}
  sizes: {m: m, n: n, k: k}
  dtype: {text: bfloat16}
  flop: {expression: 2 * $m * $n * $k}
  bytes: {expression: 2 * ($m * $k + $k * $n + $m * $n)}
  seconds_median: {column: latency_ms, unit: ms}
)yaml"};

}  // namespace sluice
