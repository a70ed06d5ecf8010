#include "command/stage_table.hpp"

#include <algorithm>
#include <limits>

#include "base/quantity.hpp"

namespace sluice {

Target::Target(const Platform& platform_, const Device& device_, DType dtype_)
    : platform(platform_),
      device(device_),
      dtype(dtype_),
      bandwidth(std::numeric_limits<double>::infinity()),
      flop_per_s(device_.flop_per_s(dtype_)) {
  const Path path = platform.path(platform.host().name, device.name);
  for (const std::uint32_t channel : path.channels)
    bandwidth = std::min(bandwidth, platform.channels[channel].bandwidth);
}

std::int64_t Target::bytes(std::int64_t elements) const {
  return checked_mul(elements, bytes_of(dtype), "bytes");
}

double Target::transfer_s(std::int64_t elements) const {
  return static_cast<double>(bytes(elements)) / bandwidth;
}

namespace {

TableRow::Times times_of(const TableRow& row, const Target& target) {
  TableRow::Times times;
  times.state = target.transfer_s(row.layer->output);
  times.total_state = target.transfer_s(row.total_state);
  times.total_parameters = target.transfer_s(row.total_parameters);
  times.flop = static_cast<double>(row.layer->flop) / target.flop_per_s;
  times.total_flop = static_cast<double>(row.total_flop) / target.flop_per_s;
  if (target.device.capacity && row.layer->output > 0) {
    const std::int64_t room = *target.device.capacity - target.bytes(row.total_parameters);
    times.copies = std::max<std::int64_t>(0, room) / target.bytes(row.layer->output);
  }
  return times;
}

}  // namespace

std::vector<TableRow> stage_table(const Model& model, const Target* target) {
  std::vector<TableRow> rows;
  rows.reserve(model.layers.size());
  TableRow row{};
  for (const Layer& layer : model.layers) {
    row.layer = &layer;  // the sums were checked when the model was read
    row.total_state += layer.output;
    row.total_parameters += layer.parameters;
    row.total_flop += layer.flop;
    if (target) row.times = times_of(row, *target);
    rows.push_back(row);
  }
  return rows;
}

TableSummary summary_of(const Model& model, const Target& target) {
  TableSummary summary;
  std::int64_t input = 0;
  for (const Layer& layer : model.layers)
    if (layer.inputs.empty()) input = checked_add(input, layer.output, "elements of the inputs");
  summary.parameter_bytes = target.bytes(model.parameters());
  summary.state_bytes = target.bytes(model.activations());
  summary.input_bytes = target.bytes(input);
  summary.load_s = target.transfer_s(model.parameters());
  summary.state_s = target.transfer_s(model.activations());
  summary.load_and_state_s = summary.load_s + summary.state_s;
  summary.load_and_input_s = summary.load_s + target.transfer_s(input);
  summary.flop_s = static_cast<double>(model.flop()) / target.flop_per_s;
  if (summary.flop_s > 0) summary.inferences_per_load = summary.load_s / summary.flop_s;
  if (!target.device.capacity) return summary;
  const auto capacity = static_cast<double>(*target.device.capacity);
  summary.fill_s = capacity / target.bandwidth;
  if (summary.parameter_bytes > 0)
    summary.copies = capacity / static_cast<double>(summary.parameter_bytes);
  return summary;
}

}  // namespace sluice
