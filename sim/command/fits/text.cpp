#include <algorithm>
#include <cmath>

#include "base/figures.hpp"
#include "base/quantity.hpp"

#include "command/command.hpp"
#include "command/fits/report.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"

namespace sluice {
namespace {

/// Returns the name of the cost model, such as "roofline". If the cards have different cost models, returns one name
/// per card.
std::string costs_of(const FitsAnswer& answer) {
  std::vector<std::string> of_each, names;
  for (std::size_t i = 0; i < answer.report.cards.size(); ++i) {
    const CardFit& card = answer.report.cards[i];
    if (!card.error.empty()) continue;
    names.push_back(card.cost);
    of_each.push_back(card.cost + " on " + printable(answer.names[i]));
  }
  const bool alike = std::all_of(names.begin(), names.end(),
                                 [&](const std::string& name) { return name == names.front(); });
  return alike ? names.front() : join(of_each);
}

std::string heading(const FitsAnswer& answer, const std::string& fates) {
  const FitsRequest& request = answer.request;
  std::string text =
      bold(printable(answer.report.model)) + ": " + request.mode + " in " + request.dtype;
  if (request.mode == "training") text += " with " + answer.report.optimizer;
  text += ", policy " + request.policy + ", fates " + fates;
  return text + ", cost " + costs_of(answer) + "\n\n";
}

/// Returns the text of a table. A table that is too wide for the page becomes several tables below each other. Each of
/// them begins with the first column.
std::string in_pages(const TextTable& table) {
  std::string text;
  const auto add = [&](TextTable& page, std::size_t column) {
    page.columns.push_back(table.columns[column]);
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      page.rows[r].push_back(table.rows[r][column]);
  };
  for (std::size_t next = 1; next < table.columns.size();) {
    TextTable page{.columns = {}, .rows = {}};
    page.rows.resize(table.rows.size());
    add(page, 0);
    const std::size_t first = next;
    while (next < table.columns.size()) {
      add(page, next++);
      if (next - 1 == first || page.width() <= static_cast<std::size_t>(terminal_width(80)))
        continue;
      page.drop_last();
      --next;
      break;
    }
    text += (first > 1 ? "\n" : "") + page.aligned();
  }
  return text;
}

struct NamedFootprint {
  std::string name;
  const Footprint* footprint;
};

std::string samples_text(std::int64_t samples) {
  return grouped(samples) + (samples == 1 ? " sample" : " samples");
}

/// Returns the footprint of one sample and of the largest micro-batch, for each card. A footprint has the bytes of each
/// class of tensors. If one sample has the same footprint on all cards, this footprint is listed only once.
std::vector<NamedFootprint> footprints(const FitsAnswer& answer) {
  const std::vector<CardFit>& cards = answer.report.cards;
  std::vector<NamedFootprint> columns;
  const auto first = std::find_if(cards.begin(), cards.end(),
                                  [](const CardFit& card) { return card.one_sample.has_value(); });
  const bool alike = std::all_of(cards.begin(), cards.end(), [&](const CardFit& card) {
    return !card.error.empty() || (first != cards.end() && card.one_sample == first->one_sample);
  });
  const auto number = first - cards.begin();
  for (std::size_t i = 0; i < cards.size(); ++i)
    if (cards[i].one_sample && (static_cast<std::ptrdiff_t>(i) == number || !alike))
      columns.push_back(
          {alike ? "1 sample" : answer.names[i] + ", 1 sample", &*cards[i].one_sample});
  for (std::size_t i = 0; i < cards.size(); ++i)
    if (cards[i].largest_footprint && cards[i].largest_footprint->samples > 1)
      columns.push_back({answer.names[i] + ", " + samples_text(cards[i].largest_footprint->samples),
                         &*cards[i].largest_footprint});
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
          [&](const Footprint& f) { return format_bytes(f.by_class[c]); });
  row("in all", [](const Footprint& f) { return format_bytes(f.bytes); });
  const std::string& doing = columns.front().footprint->doing;
  const bool alike = std::all_of(columns.begin(), columns.end(), [&](const NamedFootprint& column) {
    return column.footprint->doing == doing;
  });
  if (!alike) row("which is in the", [](const Footprint& f) { return printable(f.doing); });
  return in_pages(table) + (alike ? "the peak is in the " + printable(doing) + "\n\n" : "\n");
}

/// Returns the bytes that the next larger micro-batch lacks. Also names the class of tensors that grows most from the
/// largest micro-batch to the next larger one.
std::string lack(const CardFit& card) {
  if (card.refusal.empty()) return "nothing: a scenario cannot have a larger batch";
  const Shortage& shortage = card.shortage;
  if (!card.next && shortage.needed_bytes && shortage.available_bytes)
    return format_bytes(*shortage.needed_bytes - *shortage.available_bytes);
  if (!card.next) return "see --json";
  std::size_t most = 0;
  const auto more = [&](std::size_t c) {
    return card.next->by_class[c] -
           (card.largest_footprint ? card.largest_footprint->by_class[c] : 0);
  };
  for (std::size_t c = 1; c < tensor_class_count; ++c)
    if (more(c) > more(most)) most = c;
  return format_bytes(card.next->bytes - *card.capacity) + " (" +
         std::string(name_of(static_cast<TensorClass>(most))) + ")";
}

std::string rate(std::int64_t samples, double step_s) {
  return format_quantity(static_cast<double>(samples) / step_s, Dimension::none);
}

/// Returns the first line of the error that says why there is no answer for a card.
std::string error_line(const std::string& error) {
  return printable(error.substr(0, error.find('\n')));
}

std::string cards_table(const FitsAnswer& answer) {
  TextTable table{.columns = {left("card"), right("memory"), right("micro-batch"),
                              right("its step"), right("samples/s"), left("the next one lacks")},
                  .rows = {}};
  for (std::size_t i = 0; i < answer.report.cards.size(); ++i) {
    const CardFit& card = answer.report.cards[i];
    const std::string name = printable(answer.names[i]);
    if (!card.error.empty())
      table.rows.push_back({name, "-", "-", "-", "-", error_line(card.error)});
    if (!card.largest) continue;
    table.rows.push_back({name, format_bytes(*card.capacity), grouped(*card.largest),
                          card.step_s ? format_seconds(*card.step_s) : "-",
                          card.step_s ? rate(*card.largest, *card.step_s) : "-", lack(card)});
  }
  std::string reserved;
  for (std::size_t i = 0; i < answer.report.cards.size(); ++i)
    if (const CardFit& card = answer.report.cards[i]; card.reserved > 0)
      reserved += "on " + printable(answer.names[i]) + ", " + format_bytes(card.reserved) +
                  " are reserved; the table does not include these bytes\n";
  return table.rows.empty() ? "" : table.aligned() + reserved + "\n";
}

/// For a card without an accumulation: returns true if the batch of `--batch` does not fit, into however small
/// micro-batches it is divided. For example, the caches of keys and values may be too large: a card holds the caches of
/// all samples of a step, however small the micro-batches are.
bool fits_in_no_parts(const FitsAnswer& answer, const CardFit& card) {
  return answer.request.batch && card.error.empty() && card.largest.value_or(1) > 0 &&
         answer.report.measured_batch == 0;
}

std::string accumulation_table(const FitsAnswer& answer) {
  TextTable table{.columns = {left("accumulation on"), right("batch"), right("micro-batches"),
                              right("its step"), right("samples/s")},
                  .rows = {}};
  for (std::size_t i = 0; i < answer.report.cards.size(); ++i)
    if (const auto& made = answer.report.cards[i].accumulation)
      table.rows.push_back(
          {printable(answer.names[i]), grouped(made->batch),
           grouped(made->batch / made->micro_batch) + " x " + grouped(made->micro_batch),
           format_seconds(made->step_s), rate(made->batch, made->step_s)});
    else if (fits_in_no_parts(answer, answer.report.cards[i]))
      table.rows.push_back(
          {printable(answer.names[i]), grouped(*answer.request.batch), "none fit", "-", "-"});
  return table.rows.empty() ? "" : table.aligned() + "\n";
}

std::string commands(const FitsAnswer& answer) {
  std::string text;
  for (const std::string& file : answer.files)
    if (!file.empty()) text += "sluice run " + shell_word(file) + "\n";
  return text;
}

}  // namespace

std::string fits_text(const FitsAnswer& answer) {
  std::string text = heading(answer, answer.request.fates) + memory_table(answer) +
                     cards_table(answer) + accumulation_table(answer);
  const bool untimed = std::any_of(
      answer.report.cards.begin(), answer.report.cards.end(),
      [](const CardFit& card) { return card.error.empty() && !card.step_s && !card.accumulation; });
  if (const std::int64_t measured = answer.report.measured_batch; measured > 0 && untimed)
    text += "Seconds were measured for a micro-batch of " + grouped(measured) +
            " and are not interpolated: --batch " + std::to_string(measured) +
            " shows the time of a step on each card on which this micro-batch fits.\n\n";
  text += commands(answer);
  text.erase(text.find_last_not_of('\n') + 1);
  return text + "\n";
}

std::string fits_text(const std::vector<FitsAnswer>& answers) {
  const FitsAnswer& first = answers.front();
  TextTable table{.columns = {left("fates")}, .rows = {}};
  for (const std::string& name : first.names) table.columns.push_back(right(printable(name)));
  std::string notes;
  for (const FitsAnswer& answer : answers) {
    table.rows.push_back({answer.request.fates});
    for (std::size_t i = 0; i < answer.names.size(); ++i) {
      const CardFit& card = answer.report.cards.at(i);
      std::string cell = card.largest ? grouped(*card.largest) : card.error.empty() ? "any" : "-";
      if (card.step_s) cell += " (" + rate(*card.largest, *card.step_s) + ")";
      table.rows.back().push_back(cell);
      if (!card.error.empty() && notes.find(error_line(card.error)) == std::string::npos)
        notes += "\n" + answer.request.fates + " on " + printable(answer.names[i]) + ": " +
                 error_line(card.error);
    }
  }
  return heading(first, "as in the table") +
         "The largest micro-batch, and in brackets the samples/s with this micro-batch:\n" +
         in_pages(table) + (notes.empty() ? "" : notes + "\n");
}

}  // namespace sluice
