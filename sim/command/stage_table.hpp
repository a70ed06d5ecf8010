// The stage table of a model: counts by layer with running totals, and on a platform the same in
// seconds. Source: seed 000.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/model.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// Where the seconds come from: a device, and the link that feeds it.
struct Target {
  const Platform& platform;
  const Device& device;
  DType dtype;
  double bandwidth = 0;   ///< byte/s of the narrowest link between host memory and the device
  double flop_per_s = 0;  ///< of the device: rate x efficiency

  /// Throws InputError: no such device, no rate for the dtype, no link that feeds it.
  Target(const Platform& platform, const Device& device, DType dtype);
  double transfer_s(std::int64_t elements) const;
  std::int64_t bytes(std::int64_t elements) const;  ///< throws InputError on overflow
};

/// One layer. Counts are of one sample, in elements, but the parameters.
struct TableRow {
  const Layer* layer;
  std::int64_t total_state = 0, total_parameters = 0, total_flop = 0;  ///< up to this layer

  struct Times {
    double state = 0, total_state = 0, total_parameters = 0;  ///< s over the link
    double flop = 0, total_flop = 0;                          ///< s on the device
    /// Copies of this layer's output that fit beside the parameters up to it; none: no limit.
    std::optional<std::int64_t> copies;
  };
  std::optional<Times> times;
};

/// `target` may be null: without times.
std::vector<TableRow> stage_table(const Model& model, const Target* target);

/// What the whole model takes on a target. Seconds.
struct TableSummary {
  std::int64_t parameter_bytes = 0, state_bytes = 0, input_bytes = 0;
  double load_s = 0;             ///< all parameters over the link
  std::optional<double> fill_s;  ///< the device's memory, filled over the link
  std::optional<double> copies;  ///< of the parameters that fit into it; none: no parameters
  double state_s = 0;            ///< all activations over the link
  double load_and_state_s = 0, load_and_input_s = 0;
  double flop_s = 0;
  std::optional<double> inferences_per_load;  ///< load_s / flop_s
};
TableSummary summary_of(const Model& model, const Target& target);

}  // namespace sluice
