// The stage table of a model has the counts of each layer, and totals of all layers up to this layer. For a given
// platform, the table also has the seconds for these counts. The form comes from the document 'AlexNet on one card'.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cost/cost.hpp"
#include "model/model.hpp"
#include "platform/platform.hpp"

namespace sluice {

/// The seconds in the table depend on three things: the device, the link that brings data to it, and the cost model.
struct Target {
  const Platform& platform;
  const Device& device;
  DType dtype;
  ChosenCost cost;
  double bandwidth = 0;  ///< byte per second of the slowest link between host memory and the device
  double flop_per_s = 0;  ///< the device's rate times the efficiency

  /// Throws InputError if the device has no rate for the dtype. Throws InputError if no links lead to the device.
  Target(const Platform& platform, const Device& device, DType dtype, ChosenCost cost);
  double transfer_s(std::int64_t elements) const;
  /// Returns the bytes of this many elements. Throws InputError if this number does not fit into 64 bits.
  std::int64_t bytes(std::int64_t elements) const;
};

/// Counts of one layer, or of all layers from the first layer to this layer. All counts except those of the parameters
/// are for one sample.
struct RowCounts {
  std::int64_t state = 0, parameters = 0;  ///< elements
  std::int64_t macs = 0, flop = 0, backward_flop = 0;
  /// Bytes kept for the backward pass. Bytes that the backward pass of an earlier layer also reads
  /// are not counted again.
  std::int64_t kept = 0;
  /// Bytes read and written in the device's memory, forward and backward. The parameters are counted
  /// once.
  std::int64_t read = 0, written = 0, backward_read = 0, backward_written = 0;
};

struct TableRow {
  const Layer* layer;
  std::size_t step = 0;  ///< counted from 1
  bool knows_macs = true;
  RowCounts own, total;

  struct Times {
    /// Seconds to move the state or the parameters over the link.
    double state = 0, total_state = 0, total_parameters = 0;
    /// Seconds of the FLOP at the device's rate.
    double flop = 0, total_flop = 0;
    /// Seconds of the passes by the cost model.
    double forward = 0, total_forward = 0;
    double backward = 0, total_backward = 0;
    /// How many copies of this layer's output fit in memory beside the parameters of all layers up to this layer.
    /// Without a limit of the memory, or without an output, the value is nullopt.
    std::optional<std::int64_t> copies;
  };
  std::optional<Times> times;
};

/// Returns the rows of the table. If `target` is null, the rows have no times. The size of `dtype` turns elements into
/// bytes. Throws InputError if a sum does not fit into 64 bits.
std::vector<TableRow> stage_table(const Model& model, DType dtype, const Target* target);

/// Returns whether the model has multiply-accumulates. A model that was read from a stage table has only FLOP.
inline bool knows_macs(const Model& model) {
  return model.macs() > 0 || model.flop() == 0;
}

/// The seconds of the whole model on a target.
struct TableSummary {
  std::int64_t parameter_bytes = 0, state_bytes = 0, input_bytes = 0;
  double load_s = 0;             ///< seconds to load all parameters over the link
  std::optional<double> fill_s;  ///< seconds to fill the device's memory over the link
  /// How many copies of all parameters fit into the device's memory. Without parameters or without a limit, this is
  /// nullopt.
  std::optional<double> copies;
  double state_s = 0;  ///< seconds to move all activations over the link
  double load_and_state_s = 0, load_and_input_s = 0;
  double flop_s = 0;
  std::optional<double> inferences_per_load;  ///< load_s / flop_s
};
TableSummary summary_of(const Model& model, const Target& target);

}  // namespace sluice
