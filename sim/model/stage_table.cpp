#include <array>
#include <filesystem>

#include "document/key.hpp"
#include "model/read.hpp"

namespace sluice {
namespace {

constexpr std::array<std::string_view, 6> header = {"step",        "action",       "stage state",
                                                    "total state", "total params", "total FLOPs"};
enum Column { step, action, stage_state, total_state, total_params, total_flops };

struct Totals {
  std::int64_t state = 0, params = 0, flops = 0;
};

void check_header(const Value& row) {
  const bool fits = row.is_list() && row.items().size() == header.size();
  for (std::size_t i = 0; fits && i < header.size(); ++i)
    if (row.items()[i].text() != header[i])
      fail_at(row.items()[i], "'" + row.items()[i].text() + "' as the heading of column " +
                                  std::to_string(i + 1) + ": expected '" + std::string(header[i]) +
                                  "'");
  if (!fits)
    fail_at(
        row,
        "expected the headings step, action, stage state, total state, total params, total FLOPs");
}

std::int64_t count(const Value& row, Column column) {
  const Value& cell = row.items()[column];
  if (cell.kind() != Value::Kind::integer || cell.as_integer() < 0)
    fail_at(cell, "'" + cell.text() + "' for '" + std::string(header[column]) +
                      "': expected a count, an integer of at least 0");
  return cell.as_integer();
}

std::int64_t growth(const Value& row, Column column, std::int64_t before) {
  const std::int64_t now = count(row, column);
  if (now < before)
    fail_at(row.items()[column],
            "'" + std::to_string(now) + "' for '" + std::string(header[column]) +
                "': this running total must be at least the running total of the row before, " +
                std::to_string(before));
  return now - before;
}

Layer read_row(const Value& row, std::size_t number, Totals& totals) {
  if (!row.is_list() || row.items().size() != header.size())
    fail_at(row, "expected a row of " + std::to_string(header.size()) + " cells, got " +
                     (row.is_list() ? std::to_string(row.items().size()) : "no list"));
  if (count(row, step) != static_cast<std::int64_t>(number))
    fail_at(row.items()[step], "'" + row.items()[step].text() + "' for 'step': expected " +
                                   std::to_string(number) + ", because steps count up from 1");
  const Value& name = row.items()[action];
  if (name.kind() != Value::Kind::string || name.text().empty())
    fail_at(name, "'" + name.text() + "' for 'action': expected a word like \"Conv\"");

  Layer layer;
  layer.name = std::to_string(number) + "-" + name.text();
  layer.type = name.text();
  layer.output = count(row, stage_state);
  layer.shape = {layer.output};
  const std::int64_t grown = growth(row, total_state, totals.state);
  if (grown != layer.output)
    fail_at(row.items()[total_state],
            "'" + row.items()[total_state].text() + "' for 'total state': expected " +
                std::to_string(totals.state) + " + " + std::to_string(layer.output) +
                ", which is the total of the row before plus the stage state of this row");
  layer.parameters = growth(row, total_params, totals.params);
  layer.flop = growth(row, total_flops, totals.flops);
  // The backward pass reads the input of the layer, which is the output of the row before. Each of its two gradients
  // takes as many FLOP as the forward pass.
  layer.backward = {.input_flop = layer.flop, .weight_flop = layer.flop, .reads_inputs = true};
  totals = {totals.state + grown, totals.params + layer.parameters, totals.flops + layer.flop};
  return layer;
}

}  // namespace

Model read_stage_table(const Value& table) {
  static const Record record = {
      .name = "stage table",
      .summary = "a data island: a heading, and then one row per stage",
      .fields = {Key::text("func", "the data island's function"),
                 Key::list("data", "the heading of the table and its rows")}};
  const Reader keys(table, record);
  const std::vector<Value>& rows = keys.value("data")->items();
  if (rows.size() < 2) keys.fail("data", "expected a heading and at least one row");
  check_header(rows[0]);
  Model model;
  if (table.source()) model.name = std::filesystem::path(table.source()->name).stem().string();
  model.summary = "a stage table of " + std::to_string(rows.size() - 1) + " rows";
  Totals totals;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    model.layers.push_back(read_row(rows[i], i, totals));
    Layer& layer = model.layers.back();
    if (i > 1) layer.inputs = {static_cast<std::uint32_t>(i - 2)};
    if (i == 1 && (layer.parameters != 0 || layer.flop != 0))
      fail_at(rows[i],
              "the first row is the input of the model: expected no parameters and no FLOP");
  }
  return model;
}

}  // namespace sluice
