#include <algorithm>
#include <cmath>

#include "base/quantity.hpp"

#include "command/command.hpp"
#include "command/figures.hpp"
#include "command/fits/report.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

std::string bytes(std::int64_t count) {
  return format_quantity(static_cast<double>(count), Dimension::bytes);
}

std::string seconds(double s) {
  return format_quantity(s, Dimension::seconds);
}

/// "roofline", or for each card where they differ.
std::string costs_of(const FitsAnswer& answer) {
  const std::vector<CardFit>& cards = answer.report.cards;
  std::vector<std::string> of_each;
  bool alike = true;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    alike = alike && cards[i].cost == cards[0].cost;
    of_each.push_back(cards[i].cost + " on " + printable(answer.names[i]));
  }
  return alike ? cards[0].cost : join(of_each);
}

std::string heading(const FitsAnswer& answer) {
  const FitsRequest& request = answer.request;
  std::string text =
      bold(printable(answer.report.model)) + ": " + request.mode + " in " + request.dtype;
  if (request.mode == "training") text += " with " + answer.report.optimizer;
  text += ", policy " + request.policy + ", fates " + request.fates;
  return text + ", cost " + costs_of(answer) + "\n\n";
}

struct NamedFootprint {
  std::string name;
  const Footprint* footprint;
};

std::string samples_text(std::int64_t samples) {
  return grouped(samples) + (samples == 1 ? " sample" : " samples");
}

/// One sample (once, where all cards hold the same), then the largest of each card.
std::vector<NamedFootprint> footprints(const FitsAnswer& answer) {
  const std::vector<CardFit>& cards = answer.report.cards;
  std::vector<NamedFootprint> columns;
  const bool alike = std::all_of(cards.begin(), cards.end(),
                                 [&](const CardFit& card) { return card.one == cards[0].one; });
  for (std::size_t i = 0; i < cards.size(); ++i)
    if (cards[i].one && (i == 0 || !alike))
      columns.push_back({alike ? "1 sample" : answer.names[i] + ", 1 sample", &*cards[i].one});
  for (std::size_t i = 0; i < cards.size(); ++i)
    if (cards[i].most && cards[i].most->samples > 1)
      columns.push_back(
          {answer.names[i] + ", " + samples_text(cards[i].most->samples), &*cards[i].most});
  return columns;
}

std::string memory_table(const FitsAnswer& answer) {
  const std::vector<NamedFootprint> columns = footprints(answer);
  if (columns.empty()) return "";
  TextTable table{.columns = {left("memory at its peak")}, .rows = {}};
  for (const NamedFootprint& column : columns)
    table.columns.push_back(right(printable(column.name)));
  const auto row = [&](const std::string& name, auto&& cell) {
    table.rows.push_back({name});
    for (const NamedFootprint& column : columns)
      table.rows.back().push_back(cell(*column.footprint));
  };
  for (std::size_t c = 0; c < tensor_class_count; ++c)
    if (std::any_of(columns.begin(), columns.end(), [&](const NamedFootprint& column) {
          return column.footprint->by_class[c] != 0;
        }))
      row(std::string(name_of(static_cast<TensorClass>(c))),
          [&](const Footprint& f) { return bytes(f.by_class[c]); });
  row("in all", [](const Footprint& f) { return bytes(f.bytes); });
  const std::string& doing = columns.front().footprint->doing;
  const bool alike = std::all_of(columns.begin(), columns.end(), [&](const NamedFootprint& column) {
    return column.footprint->doing == doing;
  });
  if (!alike) row("which is in the", [](const Footprint& f) { return printable(f.doing); });
  return table.aligned() + (alike ? "the peak is in the " + printable(doing) + "\n\n" : "\n");
}

/// What the next one lacks, which classes it has more of, and when, where that is another moment.
std::string lack(const CardFit& card) {
  if (card.refusal.empty()) return "nothing: a scenario asks no more";
  if (!card.next) return printable(card.refusal_headline);
  std::string text = bytes(card.next->bytes - *card.capacity);
  if (!card.most || card.most->doing != card.next->doing)
    text += " in the " + printable(card.next->doing);
  if (!card.most) return text;
  const char* separator = ", taking ";
  for (std::size_t c = 0; c < tensor_class_count; ++c) {
    const std::int64_t more = card.next->by_class[c] - card.most->by_class[c];
    if (more <= 0) continue;
    text += separator + bytes(more) + " of " + std::string(name_of(static_cast<TensorClass>(c)));
    separator = ", ";
  }
  return text;
}

std::string cards_table(const FitsAnswer& answer) {
  TextTable table{.columns = {left("card"), right("memory"), right("largest micro-batch"),
                              right("its step"), right("samples/s"), left("the next one lacks")},
                  .rows = {}};
  for (std::size_t i = 0; i < answer.report.cards.size(); ++i) {
    const CardFit& card = answer.report.cards[i];
    if (!card.largest) continue;
    table.rows.push_back(
        {printable(answer.names[i]), bytes(*card.capacity), grouped(*card.largest),
         card.step_s ? seconds(*card.step_s) : "-",
         card.step_s
             ? format_quantity(static_cast<double>(*card.largest) / *card.step_s, Dimension::none)
             : "-",
         lack(card)});
  }
  return table.rows.empty() ? "" : table.aligned() + "\n";
}

std::string cost_of(const Accumulation& made) {
  if (made.at_once_s <= 0) return "-";
  const double share = made.step_s / made.at_once_s - 1;
  if (std::abs(share) < 1e-6) return "nothing";
  return (share < 0 ? "- " : "+ ") + percent(std::abs(share));
}

/// A batch whose samples all have a cache may be too large in whatever micro-batches.
bool fits_in_no_parts(const FitsAnswer& answer, const CardFit& card) {
  return answer.request.batch && card.largest.value_or(1) > 0 && answer.report.measured_batch == 0;
}

std::string accumulation_table(const FitsAnswer& answer) {
  TextTable table{
      .columns = {left("accumulation on"), right("batch"), right("micro-batches"), right("step"),
                  right("at once, with memory enough"), right("it costs")},
      .rows = {}};
  for (std::size_t i = 0; i < answer.report.cards.size(); ++i)
    if (const auto& made = answer.report.cards[i].accumulation)
      table.rows.push_back(
          {printable(answer.names[i]), grouped(made->batch),
           grouped(made->batch / made->micro_batch) + " x " + grouped(made->micro_batch),
           seconds(made->step_s), seconds(made->at_once_s), cost_of(*made)});
    else if (fits_in_no_parts(answer, answer.report.cards[i]))
      table.rows.push_back(
          {printable(answer.names[i]), grouped(*answer.request.batch), "none fit", "-", "-", "-"});
  return table.rows.empty() ? "" : table.aligned() + "\n";
}

std::string commands(const FitsAnswer& answer) {
  std::string text;
  for (std::size_t i = 0; i < answer.files.size(); ++i)
    text += "sluice run " + shell_word(answer.files[i]) + "\n";
  return text;
}

}  // namespace

std::string fits_text(const FitsAnswer& answer) {
  std::string text =
      heading(answer) + memory_table(answer) + cards_table(answer) + accumulation_table(answer);
  const bool untimed =
      std::any_of(answer.report.cards.begin(), answer.report.cards.end(),
                  [](const CardFit& card) { return !card.step_s && !card.accumulation; });
  if (const std::int64_t measured = answer.report.measured_batch; measured > 0 && untimed)
    text += "Seconds were measured for a micro-batch of " + grouped(measured) +
            " and are not interpolated: --batch " + std::to_string(measured) +
            " shows its step where it fits.\n\n";
  text += commands(answer);
  text.erase(text.find_last_not_of('\n') + 1);
  return text + "\n";
}

}  // namespace sluice
