#include "document/load.hpp"

#include "command/fits/report.hpp"
#include "study/json.hpp"

namespace sluice {
namespace {

template <class Number>
Value or_null(const std::optional<Number>& number) {
  return number ? Value::make(*number) : Value::make_null();
}

Value footprint_value(const std::optional<Footprint>& footprint) {
  if (!footprint) return Value::make_null();
  Value map = Value::make_map();
  map.set("samples", Value::make(footprint->samples));
  map.set("bytes", Value::make(footprint->bytes));
  Value classes = Value::make_map();
  for (std::size_t c = 0; c < footprint->by_class.size(); ++c)
    classes.set(std::string(name_of(static_cast<TensorClass>(c))),
                Value::make(footprint->by_class[c]));
  map.set("by_class", std::move(classes));
  map.set("action", json_text(footprint->action));
  map.set("doing", json_text(footprint->doing));
  return map;
}

Value accumulation_value(const std::optional<Accumulation>& accumulation) {
  if (!accumulation) return Value::make_null();
  Value map = Value::make_map();
  map.set("batch", Value::make(accumulation->batch));
  map.set("micro_batch", Value::make(accumulation->micro_batch));
  map.set("step_s", json_number(accumulation->step_s));
  map.set("at_once_s", json_number(accumulation->at_once_s));
  return map;
}

Value card_value(const FitsAnswer& answer, std::size_t number) {
  const CardFit& card = answer.report.cards[number];
  Value map = Value::make_map();
  map.set("platform", json_text(answer.names[number]));
  map.set("device", json_text(card.device));
  map.set("capacity_bytes", or_null(card.capacity));
  map.set("largest", or_null(card.largest));
  map.set("one", footprint_value(card.one));
  map.set("most", footprint_value(card.most));
  map.set("next", footprint_value(card.next));
  map.set("missing_bytes",
          card.next ? Value::make(card.next->bytes - *card.capacity) : Value::make_null());
  map.set("refusal", card.refusal.empty() ? Value::make_null() : json_text(card.refusal));
  map.set("step_s", card.step_s ? json_number(*card.step_s) : Value::make_null());
  map.set("samples_per_s", card.step_s
                               ? json_number(static_cast<double>(*card.largest) / *card.step_s)
                               : Value::make_null());
  map.set("accumulation", accumulation_value(card.accumulation));
  map.set("scenario", answer.files.empty() ? Value::make_null() : json_text(answer.files[number]));
  return map;
}

}  // namespace

std::string fits_json(const FitsAnswer& answer) {
  const FitsRequest& request = answer.request;
  const bool trains = request.mode == "training";
  Value root = Value::make_map();
  root.set("format", json_text("sluice-fits/1"));
  root.set("model", json_text(answer.report.model));
  root.set("mode", json_text(request.mode));
  root.set("dtype", json_text(request.dtype));
  root.set("optimizer", trains ? json_text(answer.report.optimizer) : Value::make_null());
  root.set("policy", json_text(request.policy));
  root.set("fates", json_text(request.fates));
  const std::int64_t measured = answer.report.measured_batch;
  root.set("measured_batch", measured > 0 ? Value::make(measured) : Value::make_null());
  Value cards = Value::make_list();
  for (std::size_t i = 0; i < answer.report.cards.size(); ++i)
    cards.items().push_back(card_value(answer, i));
  root.set("cards", std::move(cards));
  return to_json(root);
}

}  // namespace sluice
