#include "cost/cost.hpp"

#include <algorithm>

#include "base/quantity.hpp"
#include "document/key.hpp"

namespace sluice {

Query query_of(const Model& model, const Layer& layer, Pass pass, std::int64_t samples, DType dtype,
               const Device& device) {
  return {.device = device,
          .dtype = dtype,
          .pass = pass,
          .samples = samples,
          .work = work_of(model, layer, pass, samples, dtype),
          .model = &model,
          .layer = &layer};
}

Price& Price::operator+=(const Price& other) {
  for (double Price::*part : {&Price::seconds, &Price::flop, &Price::bytes, &Price::measured_s,
                              &Price::joules, &Price::joules_s, &Price::measured_j})
    this->*part += other.*part;
  return *this;
}

Price multiple_of(const Price& price, double factor) {
  return {.seconds = price.seconds * factor,
          .flop = price.flop * factor,
          .bytes = price.bytes * factor,
          .joules = price.joules * factor,
          .joules_s = price.joules_s * factor};
}

double peak_seconds(const Work& work, const Device& device, DType dtype) {
  return work.flop == 0 ? 0 : work.flop / device.flop_per_s(dtype);
}

const char* const cost_model_summary =
    "the cost model. The default is roofline if each device has a memory bandwidth, and otherwise peak";

Record record_of(const CostModel& model) {
  Record record{.name = "cost " + model.name, .summary = model.summary, .fields = model.parameters};
  record.fields.insert(
      record.fields.begin(),
      Key::choice("model", cost_catalog().names(), cost_model_summary).or_absent());
  return record;
}

const CostModel& default_cost(const Platform& platform) {
  const bool known =
      std::all_of(platform.devices.begin(), platform.devices.end(),
                  [](const Device& device) { return device.memory().bandwidth().has_value(); });
  return cost_catalog().find(known ? "roofline" : "peak");
}

namespace {

ChosenCost named_cost(const Value& cost, const std::string& folder) {
  ChosenCost chosen{choose(cost_catalog(), cost, "cost", "model"), nullptr};
  chosen.object = chosen.model->make(chosen.model.keys.reader(), folder);
  return chosen;
}

}  // namespace

ChosenCost choose_cost(const Value& cost, const std::string& folder, const Platform& platform) {
  if (cost.find("model")) return named_cost(cost, folder);
  Value named = cost;
  named.set("model", Value::make(default_cost(platform).name));
  return named_cost(named, folder);
}

ChosenCost plain_cost(const std::string& name, Value keys) {
  keys.set("model", Value::make(name));
  return named_cost(keys, "");
}

std::string reached_text(const Cost& cost, const Device& device, DType dtype) {
  const Shares shares = cost.shares(device);
  const auto share_of = [](double share, double rate, Dimension dimension) {
    return format_quantity(100 * share, Dimension::none) + " % of " +
           format_quantity(rate, dimension);
  };
  std::string text;
  if (shares.compute)
    text = share_of(*shares.compute, device.flop_per_s(dtype), Dimension::flop_per_s);
  const DeviceMemory& memory = device.memory();
  if (!shares.memory || !memory.bandwidth()) return text;
  text +=
      (text.empty() ? "" : " and ") +
      share_of(*shares.memory, memory.read.value_or(*memory.bandwidth()), Dimension::bytes_per_s);
  if (memory.read && memory.write && *memory.read != *memory.write)
    text += " (written: " + format_quantity(*memory.write, Dimension::bytes_per_s) + ")";
  return text;
}

}  // namespace sluice
