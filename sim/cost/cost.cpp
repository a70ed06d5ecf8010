#include "cost/cost.hpp"

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
                              &Price::joules, &Price::joules_s})
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

Record record_of(const CostModel& model) {
  Record record{.name = "cost " + model.name, .summary = model.summary, .fields = model.parameters};
  record.fields.insert(record.fields.begin(), {.name = "model",
                                               .type = Type::choice,
                                               .summary = "a cost model; see `sluice list costs`",
                                               .default_text = "peak",
                                               .choices = cost_catalog().names()});
  return record;
}

ChosenCost choose_cost(const Value& cost, const std::string& folder) {
  Value named = cost;
  if (!named.find("model")) named.set("model", Value::make(std::string("peak")));
  ChosenCost chosen{choose(cost_catalog(), named, "cost", "model"), nullptr};
  chosen.object = chosen.model->make(chosen.model.keys.reader(), folder);
  return chosen;
}

ChosenCost plain_cost(const std::string& name) {
  Value cost = Value::make_map();
  cost.set("model", Value::make(name));
  return choose_cost(cost, "");
}

}  // namespace sluice
