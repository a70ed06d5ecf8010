// The stage table of a model has a row for each layer. A row has the layer's counts, such as FLOP, and the totals from
// the first layer to this layer. If a platform is given, the row also has the seconds for these counts. The form comes
// from the document 'AlexNet on one card'.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cost/cost.hpp"
#include "model/model.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// What the seconds in the table depend on: the device, the link that brings data to the device, and the cost model.
struct Target {
  const Platform& platform;
  const Device& device;
  DType dtype;
  ChosenCost cost;
  double bandwidth = 0;  ///< byte per second of the slowest link between host memory and the device
  double flop_per_s = 0;  ///< the device's rate times the efficiency

  /// Throws InputError if the device has no rate for the dtype, or if no links lead from host memory to the device.
  Target(const Platform& platform, const Device& device, DType dtype, ChosenCost cost);
  double transfer_s(std::int64_t elements) const;
  /// Returns how many bytes `elements` elements have. Throws InputError if the number of bytes does not fit into 64
  /// bits.
  std::int64_t bytes(std::int64_t elements) const;
};

/// The counts of one layer, or their sums from the first layer to this layer. All counts except `parameters` are for
/// one sample.
struct RowCounts {
  std::int64_t state = 0, parameters = 0;  ///< elements
  std::int64_t macs = 0, flop = 0, backward_flop = 0;
  /// The bytes that are kept for the backward pass. If the backward passes of several layers read the same tensor, its
  /// bytes count only at the first of these layers.
  std::int64_t kept = 0;
  /// The bytes that the forward and the backward pass read and write in the device's memory. Each pass reads the
  /// parameters once.
  std::int64_t read = 0, written = 0, backward_read = 0, backward_written = 0;
};

struct TableRow {
  const Layer* layer;
  std::size_t step = 0;  ///< counted from 1
  bool knows_macs = true;
  RowCounts own, total;

  struct Times {
    /// The seconds in which the link moves the state of this layer, the state of all layers up to this layer, or their
    /// parameters.
    double state = 0, total_state = 0, total_parameters = 0;
    /// The seconds in which the device does the FLOP at its rate.
    double flop = 0, total_flop = 0;
    /// The seconds of the forward and the backward pass, as the cost model gives them.
    double forward = 0, total_forward = 0;
    double backward = 0, total_backward = 0;
    /// How many copies of this layer's output fit into the memory in addition to the parameters of all layers up to
    /// this layer. If the memory has no limit, or the output has no elements, the value is nullopt.
    std::optional<std::int64_t> copies;
  };
  std::optional<Times> times;
};

/// Returns the rows of the table. If `target` is null, the rows have no times. Each element has the bytes of `dtype`.
/// Throws InputError if a sum does not fit into 64 bits.
std::vector<TableRow> stage_table(const Model& model, DType dtype, const Target* target);

/// Returns true if the multiply-accumulates of the model are known. A model that was read from a stage table has FLOP,
/// but no multiply-accumulates.
inline bool knows_macs(const Model& model) {
  return model.macs() > 0 || model.flop() == 0;
}

/// The bytes of the whole model, and its seconds on a target.
struct TableSummary {
  std::int64_t parameter_bytes = 0, state_bytes = 0, input_bytes = 0;
  double load_s = 0;             ///< seconds to load all parameters over the link
  std::optional<double> fill_s;  ///< seconds to fill the device's memory over the link
  /// How many copies of all parameters fit into the device's memory. If there are no parameters, or the memory has no
  /// limit, the value is nullopt.
  std::optional<double> copies;
  double state_s = 0;  ///< seconds to move all activations over the link
  double load_and_state_s = 0, load_and_input_s = 0;
  double flop_s = 0;
  std::optional<double> inferences_per_load;  ///< load_s / flop_s
};
TableSummary summary_of(const Model& model, const Target& target);

}  // namespace sluice
