#include "study/layer_table/stage_table.hpp"

#include <algorithm>
#include <cmath>

#include "base/quantity.hpp"
#include "model/kept.hpp"
#include "planning/copy_time.hpp"

namespace sluice {

Target::Target(const Platform& platform_, const Device& device_, DType dtype_, ChosenCost cost_)
    : platform(platform_),
      device(device_),
      dtype(dtype_),
      cost(std::move(cost_)),
      bandwidth(copy_time(platform, platform.host().name, device.name).bandwidth),
      flop_per_s(device_.flop_per_s(dtype_)) {}

std::int64_t Target::bytes(std::int64_t elements) const {
  return checked_mul(elements, bytes_of(dtype), "bytes");
}

double Target::transfer_s(std::int64_t elements) const {
  return static_cast<double>(bytes(elements)) / bandwidth;
}

namespace {

std::int64_t whole_bytes(double bytes) {
  constexpr double limit = 9223372036854775807.0;
  if (bytes >= limit) throw InputError("the model has more than 2^63 - 1 bytes");
  return std::llround(bytes);
}

/// Makes the rows of the table, layer by layer. A row has the counts of its layer, and the sums of these counts from
/// the first layer to this layer.
class Rows {
 public:
  Rows(const Model& model, DType dtype, const Target* target)
      : model_(model), dtype_(dtype), target_(target), counted_(model.layers.size()) {
    row_.knows_macs = knows_macs(model);
  }

  TableRow next() {
    const auto index = static_cast<std::uint32_t>(row_.step++);
    row_.layer = &model_.layers[index];
    row_.own = counts_of(index);
    add(row_.own);
    row_.total = total_;
    if (target_) row_.times = times();
    return row_;
  }

 private:
  RowCounts counts_of(std::uint32_t index) {
    const Layer& layer = model_.layers[index];
    RowCounts own;
    own.state = layer.output;
    own.parameters = layer.parameters;
    own.macs = layer.macs;
    own.flop = layer.flop;
    own.backward_flop = backward_flop(layer);
    own.kept = newly_kept(index);
    const Work forward = forward_work(model_, layer, 1, dtype_),
               backward = backward_work(model_, layer, 1, dtype_);
    own.read = whole_bytes(forward.bytes - forward.written);
    own.written = whole_bytes(forward.written);
    own.backward_read = whole_bytes(backward.bytes - backward.written);
    own.backward_written = whole_bytes(backward.written);
    return own;
  }

  std::int64_t newly_kept(std::uint32_t index) {
    const Backward& backward = model_.layers[index].backward;
    KeptCount count = {backward.kept, backward.kept_bytes};
    const auto read = [&](std::uint32_t tensor) {
      const std::uint32_t origin = origin_of(model_, tensor);
      if (counted_[origin]) return;
      counted_[origin] = true;
      count.elements = checked_add(count.elements, model_.layers[origin].output, "kept elements");
    };
    if (backward.reads_inputs)
      for (const std::uint32_t input : model_.layers[index].inputs) read(input);
    if (backward.reads_output) read(index);
    return bytes_of(count, dtype_);
  }

  void add(const RowCounts& own) {
    for (const auto member :
         {&RowCounts::state, &RowCounts::parameters, &RowCounts::macs, &RowCounts::flop,
          &RowCounts::backward_flop, &RowCounts::kept, &RowCounts::read, &RowCounts::written,
          &RowCounts::backward_read, &RowCounts::backward_written})
      total_.*member = checked_add(total_.*member, own.*member, "a running total");
  }

  TableRow::Times times() {
    const Target& target = *target_;
    TableRow::Times times;
    times.state = target.transfer_s(row_.own.state);
    times.total_state = target.transfer_s(total_.state);
    times.total_parameters = target.transfer_s(total_.parameters);
    times.flop = static_cast<double>(row_.own.flop) / target.flop_per_s;
    times.total_flop = static_cast<double>(total_.flop) / target.flop_per_s;
    times.forward = seconds_of(Pass::forward);
    times.backward = seconds_of(Pass::backward);
    times.total_forward = forward_s_ += times.forward;
    times.total_backward = backward_s_ += times.backward;
    if (target.device.memory().capacity && row_.own.state > 0) {
      const std::int64_t room = *target.device.memory().capacity - target.bytes(total_.parameters);
      times.copies = std::max<std::int64_t>(0, room) / target.bytes(row_.own.state);
    }
    return times;
  }

  /// Returns the seconds of a pass for one sample. If the cost model knows seconds only for a certain number of
  /// samples, its seconds are divided by that number.
  double seconds_of(Pass pass) const {
    const std::int64_t samples = std::max<std::int64_t>(1, target_->cost->only_samples(model_));
    const Query query = query_of(model_, *row_.layer, pass, samples, dtype_, target_->device);
    return target_->cost->of(query).seconds / static_cast<double>(samples);
  }

  const Model& model_;
  DType dtype_;
  const Target* target_;
  std::vector<bool> counted_;  ///< the tensors whose bytes are already counted as kept
  TableRow row_{};
  RowCounts total_;
  double forward_s_ = 0, backward_s_ = 0;
};

}  // namespace

std::vector<TableRow> stage_table(const Model& model, DType dtype, const Target* target) {
  Rows rows(model, dtype, target);
  std::vector<TableRow> table;
  table.reserve(model.layers.size());
  while (table.size() < model.layers.size()) table.push_back(rows.next());
  return table;
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
  if (!target.device.memory().capacity) return summary;
  const auto capacity = static_cast<double>(*target.device.memory().capacity);
  summary.fill_s = capacity / target.bandwidth;
  if (summary.parameter_bytes > 0)
    summary.copies = capacity / static_cast<double>(summary.parameter_bytes);
  return summary;
}

}  // namespace sluice
