#include "command/placement/report.hpp"

#include <algorithm>

#include "base/csv.hpp"
#include "base/figures.hpp"
#include "base/quantity.hpp"
#include "command/table.hpp"
#include "command/terminal.hpp"
#include "document/load.hpp"
#include "study/placement/answer.hpp"

namespace sluice {
namespace {

std::string slowdown_text(const PlacementCurve& curve, const PlacementResult& result) {
  return result.refused.empty() ? ratio(curve.slowdown(result)) : "-";
}

/// Returns the ways to place tensors that the user chose, in the order of the answer.
std::vector<std::string> ways_of(const PlacementCurve& curve) {
  std::vector<std::string> ways;
  for (const PlacementResult& result : curve.results)
    if (std::find(ways.begin(), ways.end(), result.way) == ways.end()) ways.push_back(result.way);
  return ways;
}

bool any_beyond(const PlacementCurve& curve) {
  return curve.fast_capacity && std::any_of(curve.results.begin(), curve.results.end(),
                                            [&](const PlacementResult& result) {
                                              return result.capacity > *curve.fast_capacity;
                                            });
}

/// Returns "the device's" if a size is the capacity of the device's fast memory, and "beyond" if it is larger.
std::string standing(const PlacementCurve& curve, std::int64_t capacity) {
  if (!curve.fast_capacity || capacity < *curve.fast_capacity) return "";
  return capacity == *curve.fast_capacity ? "the device's" : "beyond";
}

/// Returns a table with one row per size of fast memory. The row has the slowdown for each way of placing tensors.
TextTable slowdowns(const PlacementCurve& curve) {
  const bool marked = std::any_of(
      curve.results.begin(), curve.results.end(),
      [&](const PlacementResult& result) { return !standing(curve, result.capacity).empty(); });
  TextTable table{.columns = {right("fast memory"), right("share")}};
  if (marked) table.columns.push_back(left(""));
  const std::vector<std::string> ways = ways_of(curve);
  for (const std::string& way : ways) table.columns.push_back(right(way));
  for (std::size_t i = 0; i < curve.results.size(); i += ways.size()) {
    std::vector<std::string> row = {format_bytes(curve.results[i].capacity),
                                    percent(curve.fraction(curve.results[i]))};
    if (marked) row.push_back(standing(curve, curve.results[i].capacity));
    for (std::size_t w = 0; w < ways.size(); ++w)
      row.push_back(slowdown_text(curve, curve.results[i + w]));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Returns a table with one row for each size and each way. The row has the bytes that are moved, and the gap to the
/// bound.
TextTable gaps(const PlacementCurve& curve) {
  TextTable table{.columns = {right("fast memory"), left("way"), right("time"), right("gap"),
                              right("moves"), right("moved"), right("beside kernels")}};
  for (const PlacementResult& result : curve.results) {
    if (!result.bound_s || !result.refused.empty()) continue;
    const PlacementResult::MoveTotals moved = result.move_totals(curve.question);
    table.rows.push_back(
        {format_bytes(result.capacity), result.way, format_seconds(result.seconds()),
         result.gap() ? percent(*result.gap()) : "-", std::to_string(moved.to_fast + moved.to_slow),
         format_bytes(moved.to_fast_bytes + moved.to_slow_bytes),
         format_bytes(moved.beside_bytes)});
  }
  return table;
}

TextTable worths(const PlacementCurve& curve, const PlacementResult& result, std::size_t top) {
  TextTable table{.columns = {left("tensor"), right("bytes"), left("lies in"), right("worth")}};
  const auto& problem = curve.question.problem();
  for (const TensorWorth& worth : worth_of(curve.question, result.schedule->placing)) {
    if (table.rows.size() == top || !(worth.seconds > 0)) break;
    const auto& tensor = curve.question.tensor(worth.tensor);
    table.rows.push_back({printable(tensor.name), format_bytes(tensor.bytes),
                          worth.fast ? problem.fast : problem.slow, format_seconds(worth.seconds)});
  }
  return table;
}

bool none_fits(const PlacementCurve& curve) {
  return std::all_of(curve.results.begin(), curve.results.end(),
                     [](const PlacementResult& result) { return !result.refused.empty(); });
}

LabelledRows head_rows(const PlacementCurve& curve) {
  const PlacementProblem& problem = curve.question.problem();
  LabelledRows rows = {
      {"memories", problem.fast + " (fast) and " + problem.slow + " (slow) of " + problem.device},
      {"needed", format_bytes(curve.needed) + " at one moment; there are " +
                     std::to_string(curve.question.tensor_count()) + " tensors and " +
                     std::to_string(curve.question.kernel_count()) + " kernels"},
      {"all fast", format_seconds(curve.all_fast_s) + ": a slowdown of 1 in the table below"}};
  if (curve.fast_capacity) {
    const std::int64_t own = *curve.fast_capacity;
    rows.emplace_back(
        "capacity",
        problem.fast + " has " + format_bytes(own) +
            (own >= curve.needed
                 ? ": everything fits"
                 : ", " + percent(static_cast<double>(own) / static_cast<double>(curve.needed)) +
                       " of what is needed") +
            (any_beyond(curve) ? "; larger sizes are marked 'beyond'" : ""));
  }
  std::vector<std::string> said;
  for (const PlacementResult& result : curve.results)
    if (!result.refused.empty() && (result.way != "all_fast" || none_fits(curve)) &&
        std::find(said.begin(), said.end(), result.way) == said.end()) {
      said.push_back(result.way);
      rows.emplace_back(result.way, printable(result.refused));
    }
  return rows;
}

/// Returns what the bounds of the gaps hold for.
std::string bounds_text(const PlacementCurve& curve) {
  const std::vector<std::string> ways = ways_of(curve);
  const auto has = [&](const char* way) { return std::ranges::count(ways, way) > 0; };
  std::string text = "all placements with the moves of the way";
  if (!has("synchronous") && !has("asynchronous")) text = "all placements without moves";
  if (has("cached")) text += "; cached: of a cache with room for everything";
  return text;
}

std::string cost_text(const PlacementCurve& curve) {
  std::string text = "cost model " + curve.cost_model;
  if (!curve.in_place) return text;
  return text + "; in addition, slow memory is read at " +
         format_quantity(curve.in_place->to_fast, Dimension::bytes_per_s) + " and written at " +
         format_quantity(curve.in_place->to_slow, Dimension::bytes_per_s);
}

}  // namespace

void print_placement(const PlacementCurve& curve, std::size_t top) {
  print(bold(printable(curve.scenario) +
             ": slowdown by the share of the needed bytes that fits into " +
             printable(curve.question.problem().fast) + " (" + cost_text(curve) + ")") +
        "\n\n" + rows_text(head_rows(curve)) + "\n" + slowdowns(curve).aligned());
  const TextTable bounded = gaps(curve);
  if (!bounded.rows.empty())
    print("\n" + bold("How far each time is from a proven bound (gap)") + ": of " +
          bounds_text(curve) + "\n" + bounded.aligned());
  const PlacementResult* shown = placement_of_worths(curve);
  if (!shown || top == 0) return;
  const TextTable table = worths(curve, *shown, top);
  if (table.rows.empty()) return;
  print("\n" +
        bold("The tensors whose place changes the time most at " + format_bytes(shown->capacity) +
             " (static)") +
        ": seconds that the run would lose if the tensor were in " + curve.question.problem().slow +
        ", or gain if the tensor were in " + curve.question.problem().fast + "\n" +
        table.aligned());
}

void print_placement_csv(const PlacementCurve& curve) {
  TextTable table;
  for (const std::string& column : placement_columns()) table.columns.push_back(left(column));
  for (const PlacementResult& result : curve.results) {
    const Value value = placement_row(curve, result);
    std::vector<std::string> row;
    for (const TextTable::Column& column : table.columns) {
      const Value* cell = value.find(column.heading);
      row.push_back(!cell || cell->kind_name() == "null" ? "" : cell->text());
    }
    table.rows.push_back(std::move(row));
  }
  print(table.csv());
}

void print_placement_json(const PlacementCurve& curve, std::size_t top) {
  print(to_json(placement_document(curve, top)));
}

}  // namespace sluice
