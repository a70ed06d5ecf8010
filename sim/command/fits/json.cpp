#include "document/load.hpp"
#include "document/object.hpp"

#include "command/fits/report.hpp"

namespace sluice {
namespace {

Value footprint_value(const Footprint& footprint) {
  Value classes = Value::make_map();
  for (std::size_t c = 0; c < footprint.by_class.size(); ++c)
    classes.set(std::string(name_of(static_cast<TensorClass>(c))),
                Value::make(footprint.by_class[c]));
  return object({{"samples", footprint.samples},
                 {"bytes", footprint.bytes},
                 {"by_class", std::move(classes)},
                 {"action", footprint.action},
                 {"doing", footprint.doing}});
}

Item footprint_or_null(const std::optional<Footprint>& footprint) {
  return footprint ? Item(footprint_value(*footprint)) : Item(nullptr);
}

Item accumulation_or_null(const std::optional<Accumulation>& accumulation) {
  if (!accumulation) return nullptr;
  return object({{"batch", accumulation->batch},
                 {"micro_batch", accumulation->micro_batch},
                 {"step_s", accumulation->step_s}});
}

Item samples_per_s(const CardFit& card) {
  if (!card.step_s) return nullptr;
  return static_cast<double>(*card.largest) / *card.step_s;
}

Value card_value(const FitsAnswer& answer, std::size_t number) {
  const CardFit& card = answer.report.cards[number];
  return object({
      {"platform", answer.names[number]},
      {"device", card.device},
      {"cost", card.cost},
      {"capacity_bytes", card.capacity},
      {"reserved_bytes", card.reserved},
      {"largest", card.largest},
      {"one", footprint_or_null(card.one_sample)},
      {"most", footprint_or_null(card.largest_footprint)},
      {"next", footprint_or_null(card.next)},
      {"missing_bytes", card.next ? Item(card.next->bytes - *card.capacity) : Item(nullptr)},
      {"refusal", text_or_null(card.refusal)},
      {"error", text_or_null(card.error)},
      {"step_s", card.step_s},
      {"samples_per_s", samples_per_s(card)},
      {"accumulation", accumulation_or_null(card.accumulation)},
      {"scenario", answer.files.empty() ? Item(nullptr) : text_or_null(answer.files[number])},
  });
}

Value cards_value(const FitsAnswer& answer) {
  Value cards = Value::make_list();
  for (std::size_t i = 0; i < answer.report.cards.size(); ++i)
    cards.items().push_back(card_value(answer, i));
  return cards;
}

/// Returns the JSON document. `last` is the name of the last key of the document, and `answers` is its value.
Value report_value(const FitsAnswer& answer, const std::string& fates, const std::string& last,
                   Value answers) {
  const FitsRequest& request = answer.request;
  const bool trains = request.mode == "training";
  const std::int64_t measured = answer.report.measured_batch;
  return object({
      {"format", "sluice-fits/1"},
      {"model", answer.report.model},
      {"mode", request.mode},
      {"dtype", request.dtype},
      {"optimizer", trains ? Item(answer.report.optimizer) : Item(nullptr)},
      {"policy", request.policy},
      {"fates", fates},
      {"measured_batch", measured > 0 ? Item(measured) : Item(nullptr)},
      {last, std::move(answers)},
  });
}

}  // namespace

std::string fits_json(const FitsAnswer& answer) {
  return to_json(report_value(answer, answer.request.fates, "cards", cards_value(answer)));
}

std::string fits_json(const std::vector<FitsAnswer>& answers) {
  Value strategies = Value::make_list();
  for (const FitsAnswer& answer : answers)
    strategies.items().push_back(
        object({{"fates", answer.request.fates}, {"cards", cards_value(answer)}}));
  return to_json(report_value(answers.front(), "all", "strategies", std::move(strategies)));
}

}  // namespace sluice
