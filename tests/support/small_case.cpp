#include "support/small_case.hpp"

#include <sstream>

#include "document/load.hpp"

namespace sluice::test {

namespace {

/// Returns the rows as the text of a stage table. A stage table has running totals, and it counts
/// elements instead of bytes. An element has 4 bytes.
std::string table(std::int64_t input_bytes, const std::vector<Row>& rows) {
  std::ostringstream out;
  std::int64_t state = input_bytes / 4, parameters = 0, flop = 0;
  out << R"({"func": "quick_plot", "data": [["step", "action", "stage state", "total state", )"
      << R"("total params", "total FLOPs"], [1, "Init", )" << state << ", " << state << ", 0, 0]";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    state += rows[i].output_bytes / 4;
    parameters += rows[i].weight_bytes / 4;
    flop += static_cast<std::int64_t>(rows[i].compute_ms * 1e6);
    out << ", [" << i + 2 << ", \"L\", " << rows[i].output_bytes / 4 << ", " << state << ", "
        << parameters << ", " << flop << "]";
  }
  return out.str() + "]}";
}

}  // namespace

Scenario small_scenario(std::int64_t input_bytes, const std::vector<Row>& rows,
                        const std::string& extra, const std::vector<std::string>& overrides) {
  const std::string text = R"(
format: sluice-scenario/1
model: {definition: )" + table(input_bytes, rows) +
                           R"(}
platform:
  format: sluice-platform/1
  name: small
  summary: one device behind one link
  source: made up
  devices: {gpu: {rate: {float32: 1GFLOP/s}, memory: {capacity: unlimited}}}
  memories: {host: {capacity: unlimited}}
  links: {host: {joins: [host, gpu], bandwidth: 1GB/s}}
)" + extra;
  Value document = parse_text(text, "small.yaml");
  apply_overrides(document, overrides);
  return read_scenario(std::move(document), "small");
}

}  // namespace sluice::test
